"""Warp shuffle: the last rounds of a reduction, or all of them, in registers."""

from __future__ import annotations

import pytest

from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.warp_shuffle import warp_shuffle

SUM = """\
__global__ void f(const float* in, float* out, int n) {
  __shared__ float d[256];
  int t = threadIdx.x;
  if (blockIdx.x * blockDim.x + t >= n) return;
  d[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) d[t] += d[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = d[0];
}
"""
WHOLE = facts(numbers={"n": 256_000})


def test_all_rounds_and_the_last_ones() -> None:
    whole, last = changes_of(warp_shuffle, SUM, WHOLE)
    assert (whole.effect, last.effect) == ("order", "exact")
    promises = "blocks of a power of two threads", "of d only the result is used", "n is a multiple of the block"
    assert last.promise == "; ".join(promises)
    assert diffs(warp_shuffle, SUM, WHOLE) == [
        """\
-  for (int s = blockDim.x / 2; s > 0; s /= 2) {
-    if (t < s) d[t] += d[t + s];
-    __syncthreads();
+  __shared__ float of_warp[32];
+  float sum = d[t];
+  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
+  if (t % 32 == 0) of_warp[t / 32] = sum;
+  __syncthreads();
+  if (t < 32) {
+    if (t < blockDim.x / 32) sum = of_warp[t];
+    for (int s = blockDim.x / 64; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
+    if (t == 0) d[0] = sum;""",
        """\
-  for (int s = blockDim.x / 2; s > 0; s /= 2) {
+  for (int s = blockDim.x / 2; s > 32; s /= 2) {
+  }
+  if (t < 32) {
+    float sum = d[t] + d[t + 32];
+    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
+    if (t == 0) d[0] = sum;""",
    ]


def test_a_result_that_all_threads_read_needs_a_barrier() -> None:
    source = SUM.replace("if (t == 0) out[blockIdx.x] = d[0];", "out[blockIdx.x * blockDim.x + t] = d[0];")
    for diff in diffs(warp_shuffle, source, WHOLE):
        assert diff.endswith("+  __syncthreads();")


def test_a_barrier_in_front_of_each_round_is_kept_before_the_last_ones() -> None:
    round_ = "    if (t < s) d[t] += d[t + s];\n"
    source = SUM.replace(round_ + "    __syncthreads();\n", "    __syncthreads();\n" + round_)
    assert "+  __syncthreads();\n+  if (t < 32) {\n+    float sum" in diffs(warp_shuffle, source, WHOLE)[1]


@pytest.mark.parametrize("call", ["max(d[t], d[t + s])", "min(d[t + s], d[t])"])
def test_extremes(call: str) -> None:
    source = SUM.replace("d[t] += d[t + s]", f"d[t] = {call}")
    name = "greatest" if "max" in call else "least"
    shuffled = f"__shfl_down_sync(0xffffffff, {name}, s)"
    update = call.replace("d[t + s]", shuffled).replace("d[t]", name)
    assert f"{name} = {update};" in diffs(warp_shuffle, source, WHOLE)[1]


@pytest.mark.parametrize("numbers", [{}, {"n": 255_999}])
def test_threads_that_leave_are_missed(numbers: dict[str, int]) -> None:
    reason = "no shuffles in the reduction: some threads of a block leave before the loop"
    assert refusals(warp_shuffle, SUM, facts(numbers=numbers)) == [(4, reason)]


def test_chars_are_not_shuffled() -> None:
    reason = "no shuffles in the reduction: char may not be shuffled"
    assert refusals(warp_shuffle, SUM.replace("float d", "char d"), WHOLE) == [(7, reason)]


def test_one_warp_has_no_loop_to_save() -> None:
    assert refusals(warp_shuffle, SUM, facts(block=32, numbers={"n": 32_000})) == []


CHAINED = """\
__global__ void f(const float* x, float* y) {
  extern __shared__ float d[];
  unsigned t = threadIdx.x;
  float mine = x[blockIdx.x * blockDim.x + t];
  d[t] = mine;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) d[t] = mine = mine + d[t + s];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = mine;
}
"""


def test_a_sum_in_a_register_and_in_shared_memory() -> None:
    assert diffs(warp_shuffle, CHAINED, facts()) == ["""\
-  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
-    if (t < s) d[t] = mine = mine + d[t + s];
-    __syncthreads();
+  __shared__ float of_warp[32];
+  for (int s = 16; s > 0; s >>= 1) mine = mine + __shfl_down_sync(0xffffffff, mine, s);
+  if (t % 32 == 0) of_warp[t / 32] = mine;
+  __syncthreads();
+  if (t < 32) {
+    if (t < blockDim.x / 32) mine = of_warp[t];
+    for (int s = blockDim.x / 64; s > 0; s >>= 1) mine = mine + __shfl_down_sync(0xffffffff, mine, s);
+    if (t == 0) d[0] = mine;"""]  # fmt: skip


def test_other_threads_may_use_the_register() -> None:
    source = CHAINED.replace("if (t == 0) y[blockIdx.x]", "y[blockIdx.x * blockDim.x + t]")
    reason = "no shuffles in the reduction: mine is used after the loop, not by the first thread alone"
    assert refusals(warp_shuffle, source, facts()) == [(11, reason)]
