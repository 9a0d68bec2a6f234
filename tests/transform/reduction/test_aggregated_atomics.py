"""Aggregated atomics: what all threads add to one word is added up in each warp before."""

from __future__ import annotations

import numpy as np

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.aggregated_atomics import aggregated_atomics

COUNT = """\
__global__ void f(const float* x, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) atomicAdd(&count[0], 1);
}
"""
LAUNCH = facts(40, 64, numbers={"n": 2500}, multiprocessors=2, resident=4)


def test_a_warp_adds_once() -> None:
    (change,) = changes_of(aggregated_atomics, COUNT, LAUNCH)
    assert (change.effect, change.launch.grid_of((40, 1, 1))) == ("exact", (8, 1, 1))
    assert diffs(aggregated_atomics, COUNT, LAUNCH) == ["""\
-  int i = blockIdx.x * blockDim.x + threadIdx.x;
-  if (i < n && x[i] > 0) atomicAdd(&count[0], 1);
+  int sum = 0;
+  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
+    if (x[i] > 0) sum += 1;
+  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
+  if (threadIdx.x % 32 == 0) atomicAdd(&count[0], sum);"""]  # fmt: skip
    x = np.random.default_rng(2).random(2500, np.float32) - np.float32(0.5)
    before, after = before_and_after(COUNT, change, LAUNCH, [x, np.zeros(1, np.int32), np.int32(2500)])
    assert before[1] == after[1] == (x > 0).sum()


def test_bins_are_not_one_word_and_a_result_that_is_used_stays() -> None:
    bins = COUNT.replace("count[0]", "count[i % 8]")
    assert changes_of(aggregated_atomics, bins, LAUNCH) == []
    used = COUNT.replace("atomicAdd(&count[0], 1)", "atomicAdd(&count[0], 1), count[1] = 2")
    (found,) = refusals(aggregated_atomics, used, LAUNCH)
    assert found[1].startswith("no sum of a warp before the atomic: ")


TOTAL = """\
__global__ void f(const float* x, float* y, int n) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&total, x[blockIdx.x * n + i]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}
"""
ONCE = TOTAL.replace("for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&total, x[blockIdx.x * n + i])",
                     "atomicAdd(&total, x[blockIdx.x * n + threadIdx.x])")  # fmt: skip


def test_a_word_in_shared_memory() -> None:
    assert diffs(aggregated_atomics, TOTAL, facts(3, 64)) == ["""\
-  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&total, x[blockIdx.x * n + i]);
+  float sum = 0;
+  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[blockIdx.x * n + i];
+  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
+  if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);"""]  # fmt: skip
    x = np.random.default_rng(2).random(3 * 100, np.float32)
    for source in (TOTAL, ONCE):
        (change,) = changes_of(aggregated_atomics, source, facts(3, 64))
        before, after = before_and_after(source, change, facts(3, 64), [x, np.zeros(3, np.float32), np.int32(100)])
        assert before[1].all()
        assert np.allclose(before[1], after[1], rtol=1e-5)


def test_not_where_threads_of_a_warp_leave_or_wait() -> None:
    left = TOTAL.replace("  for", "  if (threadIdx.x > n) return;\n  for")
    waits = TOTAL.replace("atomicAdd(&total, x[blockIdx.x * n + i]);",
                          "{ __syncthreads(); atomicAdd(&total, x[i]); }")  # fmt: skip
    for source in (left, waits, ONCE.replace("atomicAdd", "float old = atomicAdd")):
        assert changes_of(aggregated_atomics, source, facts(3, 64)) == []
