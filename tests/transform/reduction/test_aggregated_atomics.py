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
