"""The headline of a report, and the words of findings."""

from __future__ import annotations

import numpy as np
import pytest

from rules.example_kernels import counted
from warplens import compile
from warplens.report.headline import headline
from warplens.report.launch_view import LaunchView
from warplens.report.wording import count, decimal, percent

HEADLINES = [
    ("nccopy", "nccopy: uncoalesced global loads: 50 % of sectors wasted (8 per request, ideal 4), mostly in line 40"),
    # 32 lanes of a column meet in one bank: 31 of 32 wavefronts are conflicts
    ("transpose", "transpose: bank conflicts in shared loads: 97 % of wavefronts (32 per request, ideal 1), "
                  "mostly in line 37"),
    ("one_block", "ccopy: small grid: 1 block uses at most 1 of the 132 SMs of the NVIDIA H200 SXM"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "line"), HEADLINES, indirect=["subject"])
def test_has_the_heaviest_finding(subject: LaunchView, line: str) -> None:
    assert headline(subject) == line


@pytest.mark.parametrize("subject", ["odd"], indirect=True)
def test_divergence(subject: LaunchView) -> None:
    assert headline(subject).startswith("odd: inactive threads: ")
    assert "of 32 per warp active on average, mostly in line" in headline(subject)
    assert headline(subject).endswith("% of branches diverge")


@pytest.mark.parametrize("subject", ["ccopy"], indirect=True)
def test_a_clean_kernel(subject: LaunchView) -> None:
    assert headline(subject).startswith("ccopy: all global accesses fully coalesced; ")
    assert "instructions per warp, largest groups: " in headline(subject)


FINDINGS = [
    ("rules.cu/histogram", "contended atomics: 8 lanes per warp update the same word, one after the other, mostly in "
     "line 111; reduce within the warp or the block first"),
    ("rules.cu/double_literals", "of instructions compute in double precision or convert, mostly in line 122; write "
     "float literals with an f (0.5f) and call sqrtf, expf"),
    ("wide/1_scalar_char", "narrow global accesses: 1 byte per thread, mostly in line"),
    ("wide/1_scalar_half", "narrow global accesses: 2 bytes per thread, mostly in line"),
    ("divergence/1b_cut_4x4", "of 32 per warp active on average; a block of 16 threads does not fill its last warp"),
    ("resources/5_capped", "of memory requests (register spills, or arrays that do not fit in registers), mostly in"),
    ("rules.cu/table_by_variable", "of memory requests (array a, indexed by a variable in line 137), mostly in line"),
    ("resources/6_shared_115200", "low occupancy: 16 of 64 warps per SM, limited by shared memory"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "words"), FINDINGS)
def test_words_of_a_finding(kernel: str, words: str) -> None:
    assert words in headline(counted(kernel))


@pytest.mark.parametrize(
    ("part", "words"), [(0, "0 %"), (0.004, "0.4 %"), (0.9991, "99.9 %"), (1, "100 %"), (0.256, "26 %")]
)
def test_a_percentage_is_never_rounded_to_nothing_or_all(part: float, words: str) -> None:
    assert percent(part) == words


@pytest.mark.parametrize(("amount", "words"), [(4.0, "4"), (8.5, "8.5"), (1024.0, "1,024")])
def test_amounts_are_short(amount: float, words: str) -> None:
    assert decimal(amount) == words


@pytest.mark.parametrize(("amount", "words"), [(0, "0 blocks"), (1, "1 block"), (2048, "2,048 blocks")])
def test_plurals(amount: int, words: str) -> None:
    assert count(amount, "block") == words


UNSAFE = """
__global__ void unsafe(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def test_an_error_comes_before_findings() -> None:
    def of(**options: object) -> str:
        kernel = compile(source=UNSAFE, arch="sm_90")["unsafe"]
        run = kernel.launch(1, 64, np.zeros(64, np.float32), np.zeros(64, np.float32), **options)
        return headline(run.subject)

    assert of(check="races").startswith(("unsafe: lines 4 and 5: ", "unsafe: lines 5 and 4: "))
    assert "no barrier between" in of(check="races")
    assert of().startswith("unsafe: small grid: 1 block uses at most 1")


def test_small_blocks() -> None:
    kernel = compile(source="__global__ void k(float* y) { y[blockIdx.x * 32 + threadIdx.x] = 1; }", arch="sm_90")["k"]
    line = headline(kernel.launch(32 * 132, 32, np.zeros(32 * 32 * 132, np.float32)).subject)
    assert line.startswith("k: small blocks: 32 threads, 6.5 SM cycles of work in each, 157.1 between two starts; ")
    assert line.endswith("use larger blocks or more work per thread")
