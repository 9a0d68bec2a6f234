"""Narrow access: copies of one and two bytes per thread."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.memory.narrow_access import NarrowAccessEvidence, narrow_access


@pytest.mark.parametrize(("title", "size"), [("1_scalar_char", 1), ("1_scalar_half", 2), ("2_wide2_char", 2)])
def test_bytes_per_thread(title: str, size: int) -> None:
    found = narrow_access(counted(f"wide/{title}"))
    assert found is not None
    assert found.evidence == NarrowAccessEvidence(size, 1.0)


@pytest.mark.parametrize("title", ["1_scalar_float", "2_wide2_half"])
def test_four_bytes_are_silent(title: str) -> None:
    assert narrow_access(counted(f"wide/{title}")) is None
