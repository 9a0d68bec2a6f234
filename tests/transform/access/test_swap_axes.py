"""Swap axes: x and y exchanged in the kernel and in its launch."""

from __future__ import annotations

import pytest

from transform.proposals import changes_of, diffs, refusals
from warplens.transform import LaunchFacts
from warplens.transform._change import edited
from warplens.transform.access.swap_axes import swap_axes

SCALE = """\
__global__ void f(const float* a, float* b, int w, int h) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < h && col < w) b[row * w + col] = 2 * a[row * w + col];
}
"""
FACTS = LaunchFacts((8, 64, 1), (32, 8, 1))


def test_the_launch_is_exchanged_too_or_keeps_its_shape() -> None:
    first, second, *others = changes_of(swap_axes, SCALE, FACTS)
    assert (first.launch.block, first.launch.grid) == ((8, 32, 1), (64, 8, 1))
    assert (second.launch.block, second.launch.grid) == ((32, 8, 1), (16, 32, 1))
    assert [one.launch.block for one in others] == [(32, 16, 1), (64, 4, 1)]
    assert diffs(swap_axes, SCALE, FACTS) == 4 * ["""\
-    int row = blockIdx.x * blockDim.x + threadIdx.x;
-    int col = blockIdx.y * blockDim.y + threadIdx.y;
+    int row = blockIdx.y * blockDim.y + threadIdx.y;
+    int col = blockIdx.x * blockDim.x + threadIdx.x;"""]  # fmt: skip


def test_a_kernel_that_knows_its_block_gets_it_exchanged_alone() -> None:
    source = SCALE.replace("blockDim.x", "32").replace("blockDim.y", "8")
    (change,) = changes_of(swap_axes, source, FACTS)
    assert change.launch.block == (8, 32, 1)


def test_one_axis_has_nothing_to_exchange() -> None:
    source = SCALE.replace("threadIdx.y", "0")
    assert changes_of(swap_axes, source, FACTS) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("__shfl_sync(~0u, w, 1);", "__shfl_sync depends on which threads are in a warp"),
        ("__syncwarp();", "__syncwarp depends on which threads are in a warp"),
        ("dim3 all = blockDim;", "blockDim is used as a whole"),
        ("g();", "g looks at the thread's number itself"),
    ],
)
def test_what_depends_on_the_warp_is_refused(line: str, reason: str) -> None:
    source = SCALE.replace("    if (", f"    {line}\n    if (")
    source += "__device__ int g() { return threadIdx.x; }\n"
    assert refusals(swap_axes, source, FACTS) == [(4, f"x and y are not exchanged: {reason}")]


def test_a_long_x_does_not_fit_in_y() -> None:
    assert refusals(swap_axes, SCALE, LaunchFacts((65_536, 1, 1), (32, 8, 1))) == [
        (2, "x and y are not exchanged: 65,536 blocks are too many for y")
    ]


def test_x_is_exchanged_for_z_where_that_is_the_fast_axis() -> None:
    source = """\
__global__ void f(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < n && j < n && k < n) b[(i * n + j) * n + k] = a[(i * n + j) * n + k];
}
"""
    found = changes_of(swap_axes, source, LaunchFacts((8, 16, 32), (4, 8, 16)))
    first = next(one for one in found if "x and z" in one.title)
    assert (first.launch.grid, first.launch.block, first.launch.exchanged) == ((32, 16, 8), (16, 8, 4), 2)
    assert edited(source, first.edits).splitlines()[1:4] == [
        "    int i = blockIdx.z * blockDim.z + threadIdx.z;",
        "    int j = blockIdx.y * blockDim.y + threadIdx.y;",
        "    int k = blockIdx.x * blockDim.x + threadIdx.x;",
    ]
