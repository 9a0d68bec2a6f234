"""Kernels in odd forms beside what Nsight Compute counted for them on an H200 (measurements/h200/odd.csv)."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.host import USUAL
from warplens.target import Flags, Target, targets
from warplens.validation import Emulated, with_record

ROOT = Path(__file__).parents[2]
RECORD = str(ROOT / "measurements" / "h200" / "odd.csv")
FILES = sorted((ROOT / "tests" / "kernels").glob("odd_*.cu"))
DIFFERENT = {
    "narrow_atomics": "warps compete in loops of compare-and-swap",
    "shared_atomics": "warps compete in loops of compare-and-swap",
    "latched": "how often a warp looks for a latch is a matter of time",
    "naps": "when lanes that sleep meet the others again is a matter of time",
    "deep_frames": "the instrumented counters of a recursion: its lanes meet elsewhere; the hardware's own are equal",
    "jumps": "2 of 161,006 issues of BSYNC, all instrumented counters are equal: not explained",
    "shapes": "malloc and free are the driver's: an H200 counts their instructions",
    "prints": "printf is the driver's: an H200 counts its instructions",
}


def found(name: str) -> Target:
    (target,) = (t for file in FILES if f"[{name}]" in file.read_text() for t in targets(str(file), Flags(kernel=name)))
    return target


def names() -> list[str]:
    with open(RECORD, encoding="utf-8") as file:
        return [line.split(",")[0] for line in file if not line.startswith(("#", "kernel,"))]


KEPT = [pytest.param(n, marks=[pytest.mark.long] * (n != "warp_words")) for n in names() if n not in DIFFERENT]


@pytest.mark.parametrize("name", KEPT)
def test_counts_as_on_an_h200(name: str) -> None:
    (agreement,) = with_record([Emulated(found(name), USUAL, None)], RECORD)
    assert len(agreement.rows) > 40
    assert agreement.equal, [(r.name, r.emulated.value, r.measured.value) for r in agreement.rows if not r.equal]


def test_the_differences_are_of_kernels_in_the_files() -> None:
    assert set(DIFFERENT) < set(names())
