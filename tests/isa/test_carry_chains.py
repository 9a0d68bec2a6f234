"""Sums, differences and products of several words, as Python's integers have them."""

from __future__ import annotations

import pytest
from carry_chains import wrong_ones

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
FOUND = (41, 261, 280, 392)  # whose differences of products and shifted words borrowed from minus zero


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
def test_a_sample(arch: str) -> None:
    assert wrong_ones([*FOUND, *range(40)], arch) == []


@pytest.mark.long
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("start", range(1000, 3000, 50))
def test_bit_for_bit(start: int, arch: str) -> None:
    assert wrong_ones(range(start, start + 50), arch) == []
