"""How many lines L1 keeps, beside an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from warplens.machine import machine
from warplens.model import layout as p
from warplens.model.sm.l1_cache import l1_lines, l1_sets, touch

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "l1_lines.csv"
UNIFIED = machine("h200").limits.unified_bytes_per_multiprocessor
FULL = 0.85  # of all lines: what is read round after round and is fewer stays


def left(carveout: int, lines: int) -> int:
    """Of lines that are touched one after the other, and then once more."""
    entries = l1_sets(l1_lines(UNIFIED, carveout, 1.0)) * p.WAYS
    tags, stamps = np.full(entries, -1, np.int64), np.zeros(entries)
    there = [touch(n % lines, tags, stamps, float(n))[1] for n in range(2 * lines)]
    return sum(there[lines:])


def rounds() -> list[tuple[int, int, int]]:
    """Readings of lines that are touched twice, all in turn: carve-out, lines, those that were left."""
    with MEASURED.open() as file:
        rows = [(int(r["carveout_kib"]) << 10, r["touches"].split(), int(r["left"])) for r in csv.DictReader(file)]
    return [
        (carveout, int(said[0][2:]), there) for carveout, said, there in rows if len(said) == 2 == 1 + len(set(said))
    ]


def test_what_fits_stays_and_of_more_nothing_does() -> None:
    found = rounds()
    assert len(found) == 54
    for carveout, lines, there in found:
        room = l1_lines(UNIFIED, carveout, 1.0)
        if lines < FULL * room and room > 250:
            assert left(carveout, lines) > 0.97 * lines
            assert there > 0.97 * lines
        elif lines > 1.3 * room:
            assert left(carveout, lines) < 0.1 * lines
            assert there < 0.45 * lines


def test_lines_any_power_of_two_apart_fill_all_sets() -> None:
    for apart in (1, 2, 64, 1024, 8192):
        sets = l1_sets(l1_lines(UNIFIED, 32 << 10, 1.0))
        assert len({n * apart % sets for n in range(sets)}) == sets
