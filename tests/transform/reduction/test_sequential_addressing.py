"""Sequential addressing: reductions that begin with neighbours begin with pairs half a block apart instead."""

from __future__ import annotations

import pytest

from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.sequential_addressing import sequential_addressing

MODULO = """\
__global__ void f(const float* in, float* out) {
  extern __shared__ float d[];
  unsigned t = threadIdx.x;
  d[t] = in[blockIdx.x * blockDim.x + t];
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    __syncthreads();
    if (t % (2 * s) == 0) d[t] += d[t + s];
  }
  if (t == 0) out[blockIdx.x] = d[0];
}
"""
COMPACT = """\
__global__ void f(int* data, int* out) {
    int* d = data + blockIdx.x * blockDim.x;
    for (int s = 1; s < 256; s <<= 1) {
        int at = 2 * s * threadIdx.x;
        if (at < 256)
            d[at] = max(d[at], d[at + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = d[0];
}
"""


def test_a_sum_of_neighbours_becomes_one_by_halves() -> None:
    (change,) = changes_of(sequential_addressing, MODULO, facts())
    assert (change.line, change.effect) == (5, "order")
    assert diffs(sequential_addressing, MODULO, facts()) == ["""\
-  for (unsigned s = 1; s < blockDim.x; s *= 2) {
+  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
-    if (t % (2 * s) == 0) d[t] += d[t + s];
+    if (t < s) d[t] += d[t + s];"""]  # fmt: skip


def test_a_compact_maximum_in_global_memory() -> None:
    (change,) = changes_of(sequential_addressing, COMPACT, facts())
    assert "of d only the result is used" in change.promise
    assert diffs(sequential_addressing, COMPACT, facts()) == ["""\
-    for (int s = 1; s < 256; s <<= 1) {
-        int at = 2 * s * threadIdx.x;
-        if (at < 256)
-            d[at] = max(d[at], d[at + s]);
+    for (int s = 128; s > 0; s >>= 1) {
+        if (threadIdx.x < s)
+            d[threadIdx.x] = max(d[threadIdx.x], d[threadIdx.x + s]);"""]  # fmt: skip


def test_a_mask_is_a_remainder() -> None:
    source = MODULO.replace("t % (2 * s) == 0", "(t & (2 * s - 1)) == 0 && t + s < blockDim.x")
    assert "+    if (t < s) d[t] += d[t + s];" in diffs(sequential_addressing, source, facts())[0]


def test_a_block_of_96_is_refused() -> None:
    assert refusals(sequential_addressing, MODULO, facts(block=96)) == [
        (5, "the reduction keeps its order: a block of 96 threads is not halved evenly")
    ]


@pytest.mark.parametrize("use", ["d[1]", "d[t]"])
def test_another_element_than_the_first_may_not_be_used(use: str) -> None:
    source = MODULO.replace("if (t == 0) out[blockIdx.x] = d[0]", f"out[blockIdx.x * blockDim.x + t] = {use}")
    assert refusals(sequential_addressing, source, facts()) == [
        (9, "the reduction keeps its order: d is used after the loop, besides d[0]")
    ]


@pytest.mark.parametrize("update", ["d[t] -= d[t + s]", "d[t] += d[t + 2 * s]", "d[t] += e[t + s]", "d[t] = d[t + s]"])
def test_other_updates_are_no_reduction(update: str) -> None:
    assert refusals(sequential_addressing, MODULO.replace("d[t] += d[t + s]", update), facts()) == []
