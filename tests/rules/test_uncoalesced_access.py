"""Uncoalesced access: sectors per request of strided copies."""

from __future__ import annotations

from rules.example_kernels import counted
from warplens.rules.memory import uncoalesced_access as module
from warplens.rules.memory.uncoalesced_access import uncoalesced_access


def test_a_stride_of_two_elements_doubles_the_sectors() -> None:
    found = uncoalesced_access(counted("coalescing/2_nccopy"))
    assert found is not None
    assert isinstance(found.evidence, module.UncoalescedAccessEvidence)
    worst = found.evidence.worst
    assert (worst.name, worst.per_request, worst.ideal_per_request) == ("Global Load", 8, 4)


def test_the_weight_grows_with_the_stride() -> None:
    weights = [
        found.weight
        for stride in ("02", "04", "08")
        if (found := uncoalesced_access(counted(f"coalescing/3_stride_{stride}")))
    ]
    assert len(weights) == 3
    assert weights == sorted(weights)
