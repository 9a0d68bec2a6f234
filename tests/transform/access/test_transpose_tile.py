"""Transpose tile: the naive transposition through shared memory, whichever side it walks in columns."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from transform.proposals import changes_of, diffs, refusals
from warplens.transform import LaunchFacts
from warplens.transform._change import edited
from warplens.transform.access.transpose_tile import transpose_tile

NAIVE = """\
__global__ void f(const float *in, float *out, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows)
        out[(size_t)x * rows + y] = in[y * columns + x];
}
"""
WRITES_ROWS = NAIVE.replace("x < columns && y < rows", "x < rows && y < columns").replace(
    "out[(size_t)x * rows + y] = in[y * columns + x]", "out[y * rows + x] = in[x * columns + y]"
)
LAUNCH = LaunchFacts((4, 3, 1), (16, 16, 1))


def test_rows_are_read_and_rows_are_written() -> None:
    assert diffs(transpose_tile, NAIVE, LAUNCH) == ["""\
-    if (x < columns && y < rows)
-        out[(size_t)x * rows + y] = in[y * columns + x];
+    __shared__ float tile[16][17];
+    int x_turned = blockIdx.x * 16 + threadIdx.y, y_turned = blockIdx.y * 16 + threadIdx.x;
+    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
+    __syncthreads();
+    if (x_turned < columns && y_turned < rows)
+        out[(size_t)x_turned * rows + y_turned] = tile[threadIdx.x][threadIdx.y];"""]  # fmt: skip


@pytest.mark.parametrize("source", [NAIVE, WRITES_ROWS])
def test_both_forms_transpose(source: str) -> None:
    rows, columns = 45, 61
    matrix = np.random.default_rng(1).random((rows, columns), np.float32)
    (change,) = changes_of(transpose_tile, source, LAUNCH)
    found = np.zeros((columns, rows), np.float32)
    wl.compile(source=edited(source, change.edits))["f"].launch((4, 4), (16, 16), matrix, found, rows, columns)
    assert (found == matrix.T).all()


def test_other_blocks_and_other_kernels_stay() -> None:
    assert refusals(transpose_tile, NAIVE, LaunchFacts((4, 3, 1), (32, 12, 1))) == [
        (5, "no tile for the transposition: blocks of 32 x 12 threads")
    ]
    for old, new in (("in[y * columns + x]", "in[x * rows + y]"), ("in[y * columns + x]", "2 * in[y * columns + x]"),
                     ("out[(size_t)x * rows + y] =", "out[(size_t)x * rows + y] +=")):  # fmt: skip
        assert changes_of(transpose_tile, NAIVE.replace(old, new), LAUNCH) == []


def test_a_thread_of_a_flat_block_takes_several_rows() -> None:
    launch = LaunchFacts((4, 12, 1), (32, 8, 1))
    (change,) = changes_of(transpose_tile, NAIVE, launch)
    assert change.launch.grid_of((4, 12, 1)) == (4, 3, 1)
    assert diffs(transpose_tile, NAIVE, launch) == ["""\
-    int y = blockIdx.y * blockDim.y + threadIdx.y;
-    if (x < columns && y < rows)
-        out[(size_t)x * rows + y] = in[y * columns + x];
+    int y = blockIdx.y * 32 + threadIdx.y;
+    __shared__ float tile[32][33];
+    int x_turned = blockIdx.x * 32 + threadIdx.y, y_turned = blockIdx.y * 32 + threadIdx.x;
+    for (int j = 0; j < 32; j += 8)
+        if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
+    __syncthreads();
+    for (int j = 0; j < 32; j += 8)
+        if (x_turned + j < columns && y_turned < rows)
+            out[(size_t)(x_turned + j) * rows + y_turned] = tile[threadIdx.x][threadIdx.y + j];"""]  # fmt: skip


@pytest.mark.parametrize("source", [NAIVE, WRITES_ROWS])
def test_a_flat_block_leaves_the_same(source: str) -> None:
    launch = LaunchFacts((2, 7, 1), (32, 8, 1))
    (change,) = changes_of(transpose_tile, source, launch)
    rows, columns = np.int32(50), np.int32(41)
    found = []
    for text, grid in ((source, launch.grid), (edited(source, change.edits), change.launch.grid_of(launch.grid))):
        given, out = np.arange(rows * columns, dtype=np.float32), np.zeros(rows * columns, np.float32)
        wl.compile(source=text)["f"].launch(grid, launch.block, given, out, rows, columns)
        found.append(out)
    assert found[0].any()
    assert (found[0] == found[1]).all()
