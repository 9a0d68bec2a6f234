"""Loads that stores follow, and lines that several multiprocessors want, as on an H200: `bursts` of the calibration."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from helpers.kernel_launches import written_module
from helpers.snapshots import Snapshot
from warplens.calibration.trial import source_of

RECORD = Path(__file__).parents[3] / "measurements" / "h200" / "calibration.csv"
LINES = 64


def measured(what: str, parameter: str) -> float:
    with RECORD.open(newline="") as file:
        (row,) = (r for r in csv.DictReader(file) if (r["what"], r["parameter"]) == (what, parameter))
    return float(row["value"])


@pytest.mark.every(3)
@pytest.mark.parametrize("kib", [1024, 4096, 8192])
@pytest.mark.parametrize(("name", "arrays"), [("burst_copy_1", 2), ("burst_sum", 3)])
def test_what_is_stored_waits_for_what_was_asked_for_before(
    name: str, arrays: int, kib: int, snapshot: Snapshot
) -> None:
    buffers = [np.zeros(kib * 256, np.float32) for _ in range(arrays)]
    found = written_module(source_of("bursts"))[name].launch((kib // 4,), (256,), *buffers).predict("h200")
    assert snapshot(found.time_us) == pytest.approx(measured(name.replace("_", " "), f"{kib} KiB"), rel=0.06)


def test_a_line_that_all_want_comes_as_soon_as_to_the_nearer_half_of_l2(snapshot: Snapshot) -> None:
    """A multiprocessor alone waits as long as it is far from each: 678 cycles for 597, of 64 lines."""
    arrays = np.zeros(4096, np.int64), np.zeros(1 << 18, np.int32), np.zeros(1024, np.int32)
    kernel = written_module(source_of("bursts"))["together"]
    found = kernel.launch((132,), (32,), *arrays, np.int32(LINES), np.int32(128), np.int32(0))
    assert snapshot(found.predict("h200").time_us) == pytest.approx(measured("together", "132 blocks, time"), rel=0.1)
