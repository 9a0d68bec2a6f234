"""Flat transpose tile: a transposition by one number becomes one by tiles."""

from __future__ import annotations

import numpy as np
import pytest

from transform.launched import before_and_after
from transform.proposals import changes_of, diffs, facts, refusals
from warplens.transform.access.flat_transpose_tile import flat_transpose_tile

ROWS_READ = """\
__global__ void f(const float* in, float* out, int width, int height) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < width * height) {
        int row = idx / width;
        int col = idx % width;
        out[col * height + row] = in[row * width + col];
    }
}
"""
ROWS_WRITTEN = """\
__global__ void f(const int* a, int* b, int m, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n * m) return;
  int r = i / n, c = i % n;
  b[i] = a[r + m * c];
}
"""


def test_the_number_becomes_that_of_a_tile() -> None:
    (change,) = changes_of(flat_transpose_tile, ROWS_READ, facts())
    assert (change.effect, change.launch.grid_over, change.promise) == ("exact", (4, 1, 1), "blocks of 256 threads")
    (diff,) = diffs(flat_transpose_tile, ROWS_READ, facts())
    assert [line for line in diff.split("\n") if line.startswith("+")] == [
        "+    __shared__ float tile[32][33];",
        "+    int lane = threadIdx.x % 32, first = threadIdx.x / 32, across = (width + 31) / 32;",
        "+    for (int t = blockIdx.x; t < across * ((height + 31) / 32); t += gridDim.x) {",
        "+        int x = t % across * 32, y = t / across * 32;",
        "+        for (int j = first; j < 32; j += 8)",
        "+            if (x + lane < width && y + j < height) tile[j][lane] = in[(y + j) * width + x + lane];",
        "+        __syncthreads();",
        "+        for (int j = first; j < 32; j += 8)",
        "+            if (y + lane < height && x + j < width) out[(x + j) * height + y + lane] = tile[lane][j];",
        "+        __syncthreads();",
    ]
    assert "-    int idx = blockIdx.x * blockDim.x + threadIdx.x;" in diff


@pytest.mark.parametrize("source", [ROWS_READ, ROWS_WRITTEN])
@pytest.mark.parametrize("sizes", [(64, 96), (33, 70), (1, 500)])
@pytest.mark.parametrize("block", [128, 256])
def test_it_is_transposed_as_before(source: str, sizes: tuple[int, int], block: int) -> None:
    width, height = sizes
    launch = facts(grid=-(-width * height // block), block=block)
    (change,) = changes_of(flat_transpose_tile, source, launch)
    kind = np.float32 if "float" in source else np.int32
    array = np.random.default_rng(0).integers(1, 1 << 20, width * height).astype(kind)
    before, after = before_and_after(
        source, change, launch, [array, np.zeros_like(array), np.int32(width), np.int32(height)]
    )
    assert before[1].all()
    assert np.array_equal(before[1], after[1])


def test_what_is_no_transposition_of_the_whole_is_left_alone() -> None:
    assert changes_of(flat_transpose_tile, ROWS_READ.replace("idx < width * height", "idx < width"), facts()) == []
    assert changes_of(flat_transpose_tile, ROWS_READ.replace("out[col * height + row]", "out[idx]"), facts()) == []
    assert changes_of(flat_transpose_tile, ROWS_READ.replace("= in[row", "= 2 * in[row"), facts()) == []
    assert refusals(flat_transpose_tile, ROWS_READ, facts(block=96)) == [
        (6, "no tile for the transposition: blocks of 96 threads are no rows of 32")
    ]
