"""Kernels in odd forms beside what Nsight Compute counted for them on an H200 (measurements/h200/odd.csv)."""

from __future__ import annotations

import pytest

from beside_h200 import check, found, names

RECORD, FILES = "odd.csv", "odd_*.cu"
DIFFERENT = {
    "narrow_atomics": "warps compete in loops of compare-and-swap",
    "shared_atomics": "warps compete in loops of compare-and-swap",
    "latched": "how often a warp looks for a latch is a matter of time",
    "naps": "when lanes that sleep meet the others again is a matter of time",
    "deep_frames": "the instrumented counters of a recursion: its lanes meet elsewhere; the hardware's own are equal",
    "shapes": "malloc and free are the driver's: an H200 counts their instructions",
    "producers": "the instrumented branch targets, 24 of 840 more there; the hardware's own counters are equal",
    "takers": "the instrumented branch targets, 144 of 560 more there; the hardware's own counters are equal",
    "prints": "printf is the driver's: an H200 counts its instructions",
}

SAMPLE = ("warp_words", "jumps", "laps", "hints", "near_one")


KEPT = [pytest.param(n, marks=[pytest.mark.long] * (n not in SAMPLE)) for n in names(RECORD) if n not in DIFFERENT]


@pytest.mark.parametrize("name", KEPT)
def test_counts_as_on_an_h200(name: str) -> None:
    check(found(FILES, name), RECORD)


def test_the_differences_are_of_kernels_in_the_files() -> None:
    assert set(DIFFERENT) < set(names(RECORD))
