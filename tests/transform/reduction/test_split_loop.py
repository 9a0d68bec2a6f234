"""Split loop: the rows of a block share the loop down a column."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.reduction.split_loop import split_loop

COLUMNS = """\
__global__ void f(const float* in, float* out, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float s = 0;
  for (int r = 0; r < rows; ++r) s += in[r * columns + c];
  out[c] = s;
}
"""
ELEMENT = """\
__global__ void f(float* a, float* x, float* y, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < columns) {
    y[c] = 1;
    for (int r = 0; r < rows; ++r) y[c] += a[r * columns + c] * x[r];
  }
}
"""
LAUNCH = facts(2, 128, numbers={"columns": 192, "rows": 100})


def test_rows_of_threads_share_the_loop() -> None:
    first, *others = changes_of(split_loop, COLUMNS, LAUNCH)
    assert (first.launch.block, first.launch.grid_of((2, 1, 1)), first.effect) == ((32, 32, 1), (8, 1, 1), "order")
    assert [one.launch.block for one in others] == [(32, 16, 1), (32, 8, 1)]
    assert first.promise == "blocks of 32 x 32 threads"
    assert (
        diffs(split_loop, COLUMNS, LAUNCH)[0]
        == """\
-  for (int r = 0; r < rows; ++r) s += in[r * columns + c];
-  out[c] = s;
+  for (int r = threadIdx.y; r < rows; r += 32) s += in[r * columns + c];
+  __shared__ float s_of_row[32][32];
+  s_of_row[threadIdx.y][threadIdx.x] = s;
+  __syncthreads();
+  for (int half = 16; half > 0; half /= 2) {
+    if (threadIdx.y < half) s_of_row[threadIdx.y][threadIdx.x] += s_of_row[threadIdx.y + half][threadIdx.x];
+    __syncthreads();
+  }
+  s = s_of_row[0][threadIdx.x];
+  if (threadIdx.y == 0) out[c] = s;"""
    )


@pytest.mark.parametrize("source", [COLUMNS, ELEMENT])
def test_the_sums_are_the_same(source: str) -> None:
    made = np.random.default_rng(1)
    a, x, out = made.random(100 * 192, np.float32), made.random(100, np.float32), np.zeros(192, np.float32)
    arrays = [a, out] if source is COLUMNS else [a, x, out]
    for change in changes_of(split_loop, source, LAUNCH):
        before, after = before_and_after(source, change, LAUNCH, [*arrays, np.int32(100), np.int32(192)])
        assert before[-1].any()
        assert np.allclose(before[-1], after[-1], rtol=1e-5)


def test_a_part_of_a_block_would_not_come_to_the_barrier() -> None:
    reason = "the loop is not shared by several threads: some threads of a block would not come to the barrier"
    assert refusals(split_loop, ELEMENT, facts(2, 128, numbers={"columns": 190})) == [(3, reason)]


def test_the_block_size_is_a_number() -> None:
    reason = "the loop is not shared by several threads: the block size is a number in the kernel"
    assert refusals(split_loop, COLUMNS.replace("blockDim.x", "128"), LAUNCH) == [(2, reason)]
