"""Kernels in odd forms beside what Nsight Compute counted for them on an H200 (measurements/h200/odd.csv)."""

from __future__ import annotations

import pytest

from helpers.hardware_counters import check, found, names

RECORD, FILES = "odd.csv", "odd_*.cu"
SAMPLE = ("warp_words", "jumps", "laps", "hints", "near_one")


KEPT = [pytest.param(n, marks=[pytest.mark.long] * (n not in SAMPLE)) for n in names(RECORD)]


@pytest.mark.parametrize("name", KEPT)
def test_counts_as_on_an_h200(name: str) -> None:
    check(found(FILES, name), RECORD)
