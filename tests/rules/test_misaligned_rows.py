"""Misaligned rows: rows that begin inside a line, and accesses that are not neighbours'."""

from __future__ import annotations

import numpy as np
import pytest

from rules.example_kernels import counted
from warplens import compile
from warplens.rules.memory.misaligned_rows import MisalignedRowsEvidence, misaligned_rows

STENCIL = """
__global__ void k(const float* x, float* y) {
  int i = 32 + blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i - 1] + x[i] + x[i + 1];
}"""


@pytest.mark.parametrize(("title", "lines"), [("1_odd_rows", 1.81), ("2_unpadded", 1.75)])
def test_lines_per_request(title: str, lines: float) -> None:
    found = misaligned_rows(counted(f"pitched/{title}"))
    assert found is not None
    assert isinstance(found.evidence, MisalignedRowsEvidence)
    assert found.evidence.lines == pytest.approx(lines, abs=0.01)
    assert found.evidence.ideal == pytest.approx(1)
    assert found.line is not None


@pytest.mark.parametrize("example", ["coalescing/3_stride_02", "granularity/1_one_tile", "sgemm/4_column"])
def test_strides_and_short_rows_are_silent(example: str) -> None:
    assert misaligned_rows(counted(example)) is None


def test_the_neighbours_of_an_aligned_access_are_silent() -> None:
    x = np.zeros(64 + 64 * 128, np.float32)
    kernel = compile(source=STENCIL, arch="sm_90")["k"]
    assert misaligned_rows(kernel.launch(64, 128, x, x.copy()).subject) is None
