"""Shared loads of 8 and 16 bytes by some lanes: the rule of helpers/coalescing_reference.py, which
test_coalescing_reference.py compares with the executor, against what an H200 counted
(measurements/h200/shared_merges.csv)."""

from __future__ import annotations

import csv
from pathlib import Path

from helpers.coalescing_reference import shared_access

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "shared_merges.csv"


def test_wavefronts_of_540_loads() -> None:
    with MEASURED.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 540
    for row in rows:
        size, lanes, elements = int(row["bytes"]), int(row["lanes"], 16), map(int, row["elements"].split())
        addresses = {lane: size * element for lane, element in enumerate(elements) if lanes >> lane & 1}
        assert shared_access(addresses, size, True).wavefronts == int(row["memory_l1_wavefronts_shared"]), row
