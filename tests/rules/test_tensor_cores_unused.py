"""Tensor cores unused: products of halves, packed and widened."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.instructions.tensor_cores_unused import TensorCoresUnusedEvidence, tensor_cores_unused


@pytest.mark.parametrize(("kernel", "text"), [("halves", "__hfma"), ("widened", "__half2float")])
def test_products_of_halves(kernel: str, text: str) -> None:
    subject = counted(f"half_products.cu/{kernel}")
    found = tensor_cores_unused(subject)
    assert found is not None
    executed = subject["smsp__inst_executed.sum"] / subject.warps
    assert found.evidence == pytest.approx(TensorCoresUnusedEvidence(64 / executed))
    assert found.line is not None
    assert text in subject.text_of(found.line)


@pytest.mark.parametrize("example", ["sgemm/3_tiled", "sgemm/7_warp_tile"])
def test_products_of_floats_are_silent(example: str) -> None:
    assert tensor_cores_unused(counted(example)) is None
