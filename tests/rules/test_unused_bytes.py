"""Unused bytes: fields that nobody reads, and those that another thread reads."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.memory.unused_bytes import UnusedBytesEvidence, unused_bytes


@pytest.mark.parametrize(
    ("example", "used"),
    [("rules.cu/one_field", 8), ("coalescing/3_stride_02", 16), ("coalescing/3_stride_08", 4)],
)
def test_bytes_per_sector(example: str, used: float) -> None:
    found = unused_bytes(counted(example))
    assert found is not None
    assert found.evidence == pytest.approx(UnusedBytesEvidence(used))
    assert found.line is not None


@pytest.mark.parametrize("example", ["transpose/2_rows_written", "coalescing/5_rows", "wide/6_triples"])
def test_bytes_that_other_loads_use_are_silent(example: str) -> None:
    assert unused_bytes(counted(example)) is None
