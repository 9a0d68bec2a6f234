"""Chains of PTX lines come to the same on all architectures."""

from __future__ import annotations

import pytest
from ptx_chains import Chain, assembled, compared, differing

OTHERS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_100", "sm_120")
FOUND = (138, 139, 225, 271)  # pairs of halves that are one number; the least int taken away from a register


@pytest.mark.parametrize("other", ["sm_75", "sm_120"])
def test_a_sample(other: str) -> None:
    assert differing([*FOUND, *range(12)], "sm_90", other) == []


@pytest.mark.long
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("start", range(300, 2300, 25))
def test_bit_for_bit(start: int, other: str) -> None:
    assert differing(range(start, start + 25), "sm_90", other) == []


def test_other_results_are_seen() -> None:
    one, _ = assembled([Chain(1)], "sm_90")
    chain = Chain(1)
    chain.stored = [("r", 1)]  # which an input is
    other, _ = assembled([chain], "sm_90")
    assert compared(Chain(1), one, other).startswith("seed 1\n")
