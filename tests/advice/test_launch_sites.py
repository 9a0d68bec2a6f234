"""Launch sites: what becomes of <<<grid, block>>> where a change needs another launch."""

from __future__ import annotations

import pytest

from warplens.advice.launch_sites import LaunchRewrite, rewrite_of, why_not_rewritten, with_launches
from warplens.core.launch import Launch
from warplens.transform import KernelSource, LaunchChange, LaunchFacts

KERNEL = """__global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
"""
FACTS = LaunchFacts((1000, 1, 1), (256, 1, 1))
DIVIDED, HALF = LaunchRewrite(over=(4, 1, 1)), LaunchRewrite(threads=(128, None, None))
WIDER = LaunchRewrite(times=32)


@pytest.mark.parametrize(
    ("rewrite", "site", "expected"),
    [
        (DIVIDED, "scale<<<(n + 255) / 256, 256>>>(x, n);", "scale<<<((n + 255) / 256 + 3) / 4, 256>>>(x, n);"),
        (DIVIDED, "scale<<<1000, 256, 0, s>>>(x, n);", "scale<<<250, 256, 0, s>>>(x, n);"),
        (DIVIDED, "dim3 g(n / 256); scale<<<g, 256>>>(x, n);",
         "dim3 g(n / 256); scale<<<dim3((g.x + 3) / 4, g.y, g.z), 256>>>(x, n);"),
        (LaunchRewrite(blocks=(2112, 1, 1)), "app::scale<float><<<blocks, 256>>>(x, n);",
         "app::scale<float><<<2112, 256>>>(x, n);"),
        (LaunchRewrite(threads=(32, 8, None)), "dim3 g(n / 8, m / 8); scale<<<g, dim3(8, 8)>>>(x, n);",
         "dim3 g(n / 8, m / 8); scale<<<dim3((g.x * 8 + 31) / 32, (g.y * 8 + 7) / 8, g.z), dim3(32, 8)>>>(x, n);"),
        (WIDER, "scale<<<n / 256, 256>>>(x, n);", "scale<<<(n / 256) * 32, 256>>>(x, n);"),
        (WIDER, "scale<<<dim3(4, 2), 256>>>(x, n);", "scale<<<dim3(128, 2), 256>>>(x, n);"),
        (HALF, "scale<<<blocks, 256>>>(x, n);", "scale<<<(blocks * 256 + 127) / 128, 128>>>(x, n);"),
        (DIVIDED, "scale<<<n >> 8, 256>>>(x, n);", "scale<<<((n >> 8) + 3) / 4, 256>>>(x, n);"),
        (LaunchRewrite(times=8, block=(32, 8, 1)), "scale<<<n / 256, 256>>>(x, n);",
         "scale<<<(n / 256) * 8, dim3(32, 8)>>>(x, n);"),
        (LaunchRewrite(threads=(32, 8, None), swapped=True), "dim3 g(3, 4); scale<<<g, dim3(8, 32)>>>(x, n);",
         "dim3 g(3, 4); scale<<<dim3((g.y * 32 + 31) / 32, (g.x * 8 + 7) / 8, g.z), dim3(32, 8)>>>(x, n);"),
        (LaunchRewrite(swapped=True), "dim3 g(3, 4); scale<<<g, dim3(32, 8)>>>(x, n);",
         "dim3 g(3, 4); scale<<<dim3(g.y, g.x, g.z), dim3(8, 32)>>>(x, n);"),
        (DIVIDED, "dim3 g(n), b(256); scale<<<dim3(g), dim3(b)>>>(x, n);",
         "dim3 g(n), b(256); scale<<<dim3((g.x + 3) / 4, g.y, g.z), b>>>(x, n);"),
        (HALF, "dim3 g(n), b(256); scale<<<dim3(g), dim3(256)>>>(x, n);",
         "dim3 g(n), b(256); scale<<<dim3((g.x * 256 + 127) / 128, g.y, g.z), 128>>>(x, n);"),
        (DIVIDED, "other<<<1000, 256>>>(x, n);", "other<<<1000, 256>>>(x, n);"),
    ],
)  # fmt: skip
def test_grid_and_block_stay_expressions(rewrite: LaunchRewrite, site: str, expected: str) -> None:
    text = f"{KERNEL}int main() {{ {site} }}\n"
    assert with_launches(text, "scale", rewrite) == f"{KERNEL}int main() {{ {expected} }}\n"


GRIDS = """__global__ void scale(float* x, int nx, int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix >= nx || iy >= ny) return;
  x[iy * nx + ix] *= 2;
}
"""


def test_blocks_become_larger_in_two_dimensions_only_where_the_kernel_tests_both_indices() -> None:
    facts, change = LaunchFacts((64, 64, 1), (8, 8, 1)), LaunchChange((32, 16, 1), grid=(16, 32, 1))
    assert rewrite_of(change, facts) == LaunchRewrite(threads=(32, 16, None))
    for text, refused in ((GRIDS, False), (GRIDS.replace(" || iy >= ny", ""), True)):
        texts = {"a.cu": text + "int main() { scale<<<dim3(n / 8, n / 8), dim3(8, 8)>>>(x, n, n); }"}
        reason = why_not_rewritten(KernelSource(text, "scale"), change, facts, texts)
        assert ("does not test whether" in reason) == refused


@pytest.mark.parametrize(
    ("change", "rewrite"),
    [
        (LaunchChange(grid_over=(4, 1, 1)), DIVIDED),
        (LaunchChange(grid=(2112, 1, 1)), LaunchRewrite(blocks=(2112, 1, 1))),
        (LaunchChange(grid_times=32), WIDER),
        (LaunchChange((128, 1, 1), grid=(2000, 1, 1)), HALF),
        (LaunchChange((1, 256, 1), grid=(1, 1000, 1), exchanged=1), LaunchRewrite(swapped=True)),
        (
            LaunchChange((1, 128, 1), grid=(1, 2000, 1), exchanged=1),
            LaunchRewrite(threads=(None, 128, None), swapped=True),
        ),
        (LaunchChange((1, 1, 256), grid=(1, 1, 1000), exchanged=2), None),
        (LaunchChange((32, 8, 1), grid_times=8), LaunchRewrite(times=8, block=(32, 8, 1))),
        (LaunchChange((128, 1, 1), grid_times=256), LaunchRewrite(times=256, block=(128, 1, 1))),
        (LaunchChange((256, 1, 1), grid=(250, 4, 1)), None),
    ],
)  # fmt: skip
def test_what_a_change_means_for_launches_of_any_size(change: LaunchChange, rewrite: LaunchRewrite | None) -> None:
    assert rewrite_of(change, FACTS) == rewrite
    if rewrite:
        made = rewrite.applied(Launch(FACTS.grid, FACTS.block))
        assert made.grid == change.grid_of(FACTS.grid)
        assert made.block == (change.block or FACTS.block)


def reason(change: LaunchChange, host: str, kernel: str = KERNEL) -> str:
    return why_not_rewritten(KernelSource(kernel, "scale"), change, FACTS, {"main.cu": kernel + host})


def test_a_launch_that_is_not_written_as_such_is_left_alone() -> None:
    divided = LaunchChange(grid_over=(4, 1, 1))
    assert reason(divided, "int main() { scale<<<n, 256>>>(x, n); }") == ""
    assert "stands in none of the files" in reason(divided, "int main() { }")
    pointer = "int main() { scale<<<n, 256>>>(x, n); cudaLaunchKernel((void*)scale, g, b, a, 0, 0); }"
    assert "main.cu:5 uses scale other than by <<<...>>>" in reason(divided, pointer)
    assert reason(LaunchChange(), pointer) == ""


def test_larger_blocks_need_a_kernel_that_tests_its_index() -> None:
    host, larger = "int main() { scale<<<n, 256>>>(x, n); }", LaunchChange((512, 1, 1), grid=(500, 1, 1))
    assert reason(larger, host) == ""
    assert "threads beyond" in reason(larger, host, KERNEL.replace("if (i < n) ", ""))
    assert reason(LaunchChange((128, 1, 1), grid=(2000, 1, 1)), host, KERNEL.replace("if (i < n) ", "")) == ""
