"""Warp-level primitives with lanes outside the mask or missing, beside an H200 (measurements/h200/warp_lanes.csv)."""

from __future__ import annotations

import csv
from functools import cache
from itertools import groupby

import pytest
import warp_lanes
from warp_lanes import COUNTERS, RECORD, Case

COUNTED_OTHERWISE = {("00000000", "00ff00ff", "eights"), ("11111111", "33333333", "parity")}
"""Exited lanes, lanes in the branch, masks: in 37 of these 48 launches an H200 issues up to 10 of some 70 instructions
more or fewer, as lanes that waited go on in another order; the results are equal."""
FORMS = ("straight", "constant", "branch", "lanes")


@cache
def record() -> dict[str, list[dict[str, str]]]:
    with RECORD.open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    order = sorted(rows, key=lambda row: row["kernel"])
    return {kernel: list(own) for kernel, own in groupby(order, key=lambda row: row["kernel"])}


def case(row: dict[str, str]) -> Case:
    masks = row["masks"] if row["masks"] in warp_lanes.TILES else int(row["masks"], 16)
    gone, present, after = (int(row[name], 16) for name in ("gone", "present", "after"))
    return Case(row["kernel"], int(row["threads"]), gone, present, masks, after)


@pytest.mark.parametrize(
    "kernel",
    [name if "shfl_up" in name else pytest.param(name, marks=pytest.mark.long) for name in sorted(record())],
)
def test_results_and_counters_as_on_an_h200(kernel: str) -> None:
    different = []
    for row in record()[kernel]:
        ended, counters, results = warp_lanes.executed(case(row))
        there = [int(row[name]) for name in COUNTERS]
        alike = counters == there or (row["gone"], row["present"], row["masks"]) in COUNTED_OTHERWISE
        if not alike or (ended, results) != (row["outcome"], row["results"]):
            different.append((case(row).key, (ended, counters, results), there, row["results"]))
    assert not different


def test_the_record_has_every_launch_that_ends() -> None:
    assert sum(map(len, record().values())) == 1009
    assert {kernel.split("_")[0] for kernel in record()} == set(FORMS)
