"""Bank conflicts: wavefronts per request of a stride through shared memory."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.memory.bank_conflicts import BankConflictsEvidence, bank_conflicts


@pytest.mark.parametrize("stride", [2, 4, 8, 16, 32])
def test_a_power_of_two_as_stride_needs_as_many_wavefronts(stride: int) -> None:
    found = bank_conflicts(counted(f"banks/1_stride_{stride:02}"))
    assert found is not None
    assert isinstance(found.evidence, BankConflictsEvidence)
    assert (found.evidence.worst.per_request, found.evidence.worst.ideal_per_request) == (stride, 1)


@pytest.mark.parametrize("title", ["1_stride_03", "1_stride_33", "2_broadcast", "4_swizzled"])
def test_odd_strides_broadcasts_and_swizzles_have_none(title: str) -> None:
    assert bank_conflicts(counted(f"banks/{title}")) is None
