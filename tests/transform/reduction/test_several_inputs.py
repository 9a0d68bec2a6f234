"""Several inputs: a thread of a reduction adds up several elements before the first round."""

from __future__ import annotations

import pytest

from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.several_inputs import several_inputs

DOT = """\
__global__ void f(const float* x, const float* w, float* y, int n) {
    __shared__ float d[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    d[t] = (i < n) ? x[i] * w[i] : 0.0f;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) d[t] += d[t + s];
        __syncthreads();
    }
    if (t == 0) atomicAdd(y, d[0]);
}
"""
IN_PLACE = """\
__global__ void f(int* data, int* sums, unsigned n) {
  unsigned t = threadIdx.x;
  int* d = data + blockIdx.x * blockDim.x;
  if (blockIdx.x * blockDim.x + t >= n) return;
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) d[t] += d[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = d[0];
}
"""
MANY = facts(grid=1056, numbers={"n": 1056 * 256})


def test_a_guarded_input() -> None:
    eight, four = changes_of(several_inputs, DOT, facts(grid=1057))
    assert (eight.launch.grid_over, four.launch.grid_over) == ((8, 1, 1), (4, 1, 1))
    assert (eight.effect, eight.promise) == ("order", "")
    assert diffs(several_inputs, DOT, MANY)[0] == """\
-    int i = blockIdx.x * blockDim.x + t;
-    d[t] = (i < n) ? x[i] * w[i] : 0.0f;
+    int i = blockIdx.x * blockDim.x * 8 + t;
+    float sum = (i < n) ? x[i] * w[i] : 0.0f;
+    for (int k = 1; k < 8; ++k)
+        if (i + k * blockDim.x < n) sum += x[i + k * blockDim.x] * w[i + k * blockDim.x];
+    d[t] = sum;"""  # fmt: skip


def test_a_reduction_in_place() -> None:
    (change, _) = changes_of(several_inputs, IN_PLACE, MANY)
    assert change.promise == (
        "only the total of the blocks' results is used, of which there are fewer; "
        "the number of elements is a multiple of 8 blocks"
    )
    assert diffs(several_inputs, IN_PLACE, MANY)[0] == """\
-  int* d = data + blockIdx.x * blockDim.x;
-  if (blockIdx.x * blockDim.x + t >= n) return;
+  int* d = data + blockIdx.x * blockDim.x * 8;
+  int sum = d[t];
+  for (int k = 1; k < 8; ++k) sum += d[t + k * blockDim.x];
+  d[t] = sum;
+  __syncthreads();"""  # fmt: skip


def test_elements_without_a_guard_must_be_whole_blocks() -> None:
    source = DOT.replace("(i < n) ? x[i] * w[i] : 0.0f", "x[i]")
    assert refusals(several_inputs, source, facts(grid=1057)) == [
        (5, "one input a thread: 1,057 blocks are no multiple of 8")
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("x[i] * w[i]", "x[i] * w[i + 1]", 5, "w[i + 1] is not the element of the thread's number in the grid"),
        ("atomicAdd(y, d[0])", "y[t] = d[0]", 7, "where the block's result goes is not known"),
        ("atomicAdd(y, d[0])", "y[blockIdx.x % 2] = d[0]", 11, "blockIdx.x is used for more than the block's result"),
        ("    __syncthreads();\n    for", "    if (i == 3) d[t] = 4;\n    for", 6, "i is used for more than the input"),
    ],
)
def test_it_refuses(old: str, new: str, line: int, reason: str) -> None:
    assert refusals(several_inputs, DOT.replace(old, new, 1), MANY) == [(line, f"one input a thread: {reason}")]


def test_elements_that_are_missing_keep_the_early_return() -> None:
    assert refusals(several_inputs, IN_PLACE, facts(grid=1056, numbers={"n": 1056 * 256 - 1})) == [
        (4, "one input a thread: some threads have no element")
    ]
