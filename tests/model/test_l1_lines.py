"""Which lines L1 keeps, beside an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from warplens.machine import machine
from warplens.model import places as p
from warplens.model.l1_lines import lines_of, sets_of, touched, used_ways

MEASURED = Path(__file__).parents[2] / "measurements" / "h200" / "l1_lines.csv"
UNIFIED = machine("h200").limits.unified_bytes_per_multiprocessor


def left(carveout: int, apart: int, touches: str) -> int:
    """Lines of the last of the touches that are still there: each is FIRST+LINES of lines so many lines apart."""
    entries = sets_of(lines_of(UNIFIED, carveout)) * p.WAYS
    tags, stamps, used = np.full(entries, -1, np.int64), np.zeros(entries), used_ways(UNIFIED, carveout)
    clock, found = 0.0, 0
    for each in touches.split():
        first, lines = map(int, each.strip("s'").split("+"))
        found = 0
        for n in range(lines):
            clock += 1
            found += touched((first + n) * apart, tags, stamps, clock, used)[1]
    return found


def readings() -> list[tuple[int, int, str, int]]:
    with MEASURED.open() as file:
        return [(int(r["carveout_kib"]), int(r["apart"]), r["touches"], int(r["left"])) for r in csv.DictReader(file)]


def test_what_is_left_of_lines_is_what_an_h200_keeps() -> None:
    """Nothing here is fitted but the two shares of the unified memory; an LRU of as many lines is off by 0.39."""
    rows = readings()
    off = np.array([abs(left(kib << 10, apart, said) - there) / asked_last(said) for kib, apart, said, there in rows])
    assert off.size == 210
    assert off.mean() < 0.1
    assert (off < 0.1).mean() > 0.7


def asked_last(touches: str) -> int:
    return int(touches.split()[-1].split("+")[1])


@pytest.mark.parametrize("lines", [64, 512, 1024])
def test_lines_that_are_touched_again_outlast_any_number_that_are_not(lines: int) -> None:
    twice = f"0+{lines} 0+{lines} 8192+16000 0+{lines}"
    assert left(32 << 10, 1, twice) >= 0.95 * lines
    assert left(228 << 10, 1, twice) == 0
    assert left(32 << 10, 1, twice.removeprefix(f"0+{lines} ")) == 0
