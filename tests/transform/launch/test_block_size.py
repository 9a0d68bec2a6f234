"""Block size: other blocks for kernels that only count threads of the grid."""

from __future__ import annotations

import pytest

from transform.proposals import changes_of, facts, refusals
from warplens.transform import LaunchFacts
from warplens.transform.launch.block_size import block_size

SCALE = """\
__global__ void f(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
"""


def test_as_many_threads_in_other_blocks() -> None:
    changes = changes_of(block_size, SCALE, facts(grid=1000, block=256))
    assert [(change.launch.block, change.launch.grid) for change in changes] == [
        ((128, 1, 1), (2000, 1, 1)), ((512, 1, 1), (500, 1, 1)),
    ]  # fmt: skip
    assert all(not change.edits for change in changes)


def test_only_sizes_that_divide_the_grid() -> None:
    (change,) = changes_of(block_size, SCALE, facts(grid=3, block=256))
    assert change.launch.block == (128, 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("x[i] *= 2", "x[blockIdx.x] = 2", 3, "blockIdx.x"),
        ("x[i] *= 2", "x[i] *= threadIdx.x", 3, "threadIdx.x"),
        ("  if", "  __syncthreads();\n  if", 3, "__syncthreads"),
    ],
)
def test_a_kernel_that_knows_its_block_keeps_it(old: str, new: str, line: int, what: str) -> None:
    reason = f"the block size stays: {what} is used besides blockIdx.x * blockDim.x + threadIdx.x"
    assert refusals(block_size, SCALE.replace(old, new), facts()) == [(line, reason)]


GRIDS = """\
__global__ void f(const double* x, double* y, int nx, int ny) {
  int ix = threadIdx.x + blockIdx.x * blockDim.x, iy = blockDim.y * blockIdx.y + threadIdx.y;
  if (ix < nx && iy < ny) y[iy * nx + ix] = x[iy * nx + ix];
}
"""


def test_blocks_of_rows_in_two_dimensions() -> None:
    launch = LaunchFacts((256, 128, 1), (8, 8, 1))
    changes = changes_of(block_size, GRIDS, launch)
    assert [(change.launch.block, change.launch.grid) for change in changes] == [
        ((32, 8, 1), (64, 128, 1)), ((32, 16, 1), (64, 64, 1)), ((64, 4, 1), (32, 256, 1)),
    ]  # fmt: skip
    assert changes[0].title == "blocks of 32 x 8 threads instead of 8 x 8"
    assert refusals(block_size, GRIDS.replace("= x[", "= threadIdx.y * x["), launch) == [
        (3, "the block size stays: threadIdx.y is used besides blockIdx.y * blockDim.y + threadIdx.y")
    ]


def test_declared_bounds_and_rows_keep_it() -> None:
    assert changes_of(block_size, SCALE.replace("void f", "void __launch_bounds__(256) f"), facts()) == []
    assert changes_of(block_size, SCALE.replace("blockDim.x", "256"), facts()) == []
