"""Lab kernels: ten kernels of the labs in one file, small launches, and an edit of each that makes it slower."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import warplens

LABS = Path(warplens.__file__).parent / "labs"


@dataclass(frozen=True)
class SeededRegression:
    """A kernel of a lab under a name of its own; `slower` replaces `text` in it.

    budget   a part of the budget that must fail;  line: of the source line that must be named
    """

    name: str
    rung: str
    called: str
    launch: str
    text: str
    slower: str
    budget: str
    line: str


SUMS = 'args = ["random f32[4096]", "zeros f32[64]"]\nshared = 1024'
THREE = 'args = ["random f32[n]", "random f32[n]", "zeros f32[n]", "n"]'
REGRESSIONS = (
    SeededRegression(
        "vectorised<float>", "wide/3_wide4", "add", f"grid = 2\nblock = 512\n{THREE}",
        "alignas(4 * sizeof(T))", "alignas(sizeof(T))", "op_global_ld.sum", "Pack<T> a = xs[i], b = ys[i], sum;",
    ),
    SeededRegression(
        "unrolled", "unrolling/3_four_times", "add", f"grid = 1\nblock = 32\n{THREE}",
        "#pragma unroll 4", "#pragma unroll 1", "smsp__inst_executed.sum", "z[i] = x[i] + y[i]",
    ),
    SeededRegression(
        "product", "sgemm/5_square", "sgemm",
        'grid = 1\nblock = 256\nargs = ["random f32[16384]", "random f32[16384]", "zeros f32[16384]", "128"]',
        "__launch_bounds__(256)", "__launch_bounds__(256, 4)", "spills", "sum[i][j] += of_a[i] * of_b[j]",
    ),
    SeededRegression(
        "transposed", "transpose/4_padded", "transpose",
        'grid = [2, 2]\nblock = [32, 8]\nargs = ["random f32[4096]", "zeros f32[4096]", "64", "64"]',
        "tile[32][33]", "tile[32][32]", "wavefronts_mem_shared.sum", "= tile[x][y]",
    ),
    SeededRegression(
        "scaled", "divergence/3_picture", "picture",
        'grid = [2, 2]\nblock = [16, 16]\nargs = ["random f32[1024]", "zeros f32[1024]", "32", "32"]',
        "2 * in", "2.1 * in", "op_dmul", "2.1 * in[row * width + column]",
    ),
    SeededRegression(
        "halving", "divergence/5_sum_halving", "sum", f"grid = 4\nblock = 256\n{SUMS}",
        "partial[t] = in[",
        "partial[t] = 0;\n#pragma unroll 1\n  for (unsigned k = 0; k <= t % 4; ++k) partial[t] += in[",
        "threads_divergent", "k <= t % 4",
    ),
    SeededRegression(
        "promised", "unrolling/9_restrict", "add", f"grid = 2\nblock = 128\n{THREE}",
        "__restrict__ ", "", "LDG.CONSTANT", "z[i] = x[i] + y[i]",
    ),
    SeededRegression(
        "copied", "coalescing/1_ccopy", "copy",
        'grid = 32\nblock = 128\nargs = ["random f32[n]", "zeros f32[n]", "n"]',
        "out[i] = in[i]", "out[i] = in[i % n]", "smsp__inst_executed.sum", "out[i] = in[i % n]",
    ),
    SeededRegression(
        "reduced", "reduction/10_shuffle", "reduce",
        'grid = 2\nblock = 256\nargs = ["random i32[n]", "zeros i32[2]", "n"]',
        "if (t % 32 == 0)", "__syncthreads(); if (t % 32 == 0)", 'sass("BAR")', "__syncthreads(); if (t % 32 == 0)",
    ),
    SeededRegression(
        "softmax", "softmax/3_shuffles", "softmax",
        'grid = 2\nblock = 256\nargs = ["random f32[1024]", "zeros f32[1024]", "2", "512"]',
        "of_warp[8];", "of_warp[5600];", "maximum_warps", "softmax(",
    ),
)  # fmt: skip


def parts(slower: bool) -> list[str]:
    """The text of each kernel with what belongs to it, as the labs have it or slower."""
    texts = []
    for one in REGRESSIONS:
        text = (LABS / f"{one.rung}.cu").read_text(encoding="utf-8")
        text = text.replace(f" {one.called}(", f" {one.name.partition('<')[0]}(")
        assert one.text in text, one
        texts.append(text.replace(one.text, one.slower) if slower else text)
    return texts


def launches() -> str:
    """The launch block of all."""
    tables = ["n = 4096", *(f'["{one.name}"]\n{one.launch}' for one in REGRESSIONS)]
    lines = [f"// {line}" for line in "\n".join(tables).split("\n")]
    return "\n".join(["// /// warplens", *lines, "// ///", ""])


def source(slower: bool) -> str:
    """One file with all of them."""
    return "\n".join([*parts(slower), launches()])
