"""Lookups of L2 and those that hit, beside what Nsight Compute counted on an H200 (calibration_lookups.csv)."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.snapshots import Snapshot
from warplens.machine import machine
from warplens.model.result.l2_hit_rate import L2Requests, lookups

RECORD = Path(__file__).parents[3] / "measurements" / "h200" / "calibration_lookups.csv"
UNITS = machine("h200").microarchitecture
NOTHING = L2Requests(0, 0, 0, 0, 1, 0, 0, 256)
MIB = 1 << 15  # sectors


def measured(name: str) -> dict[str, str]:
    with RECORD.open(encoding="utf-8", newline="") as file:
        return next(row for row in csv.DictReader(file) if row["trial"] == name)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("once read 16 MiB, 256", replace(NOTHING, reads=16 * MIB, pieces=8 * MIB, first=2)),
        ("once write 16 MiB", replace(NOTHING, stores=16 * MIB)),
        ("rounds together, 8 MiB", replace(NOTHING, reads=12582912, pieces=4 * MIB, first=2, both=1)),
        ("loads alone, 8 MiB", replace(NOTHING, reads=17058694, pieces=4 * MIB, first=1, both=1)),
        ("crowd add, 1048576 words every 1", replace(NOTHING, atomics=2162688, pieces=2 * MIB, first=1, both=0)),
        ("fields four_store, 8 Mi", replace(NOTHING, stores=4194304, filled=3964552)),
    ],
)
def test_lookups_and_misses_are_those_that_an_h200_counts(name: str, asked: L2Requests, snapshot: Snapshot) -> None:
    row, found = measured(name), lookups(asked, 2, UNITS)
    assert snapshot(found.all) == pytest.approx(float(row["lts__t_sectors.sum"]), rel=0.05)
    missed = float(row["lts__t_sectors_lookup_miss.sum"])
    assert snapshot(found.all - found.hits) == pytest.approx(missed, rel=0.05, abs=0.02 * found.all)


@pytest.mark.every(3)
@pytest.mark.parametrize("kib", [1, 16, 64, 256])
def test_short_launches_have_the_hit_rates_that_nsight_compute_tells(kib: int, snapshot: Snapshot) -> None:
    sectors = kib * 32
    read = lookups(replace(NOTHING, reads=sectors, pieces=sectors / 2, first=2), 2, UNITS)
    assert snapshot(read.percent) == pytest.approx(float(measured(f"once read {kib} KiB")["hit_rate_of_few"]), abs=10)


def test_one_half_needs_no_second_lookups(snapshot: Snapshot) -> None:
    asked = replace(NOTHING, reads=16 * MIB, pieces=8 * MIB, first=2)
    one, two = lookups(asked, 1, UNITS), lookups(asked, 2, UNITS)
    assert snapshot(two.all / one.all) == pytest.approx(1.5, rel=0.03)
