"""How blocks come and go, as on an H200: the readings of the calibration."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.kernel_launches import written_module
from helpers.snapshots import Snapshot
from warplens.calibration import source_of, trials
from warplens.calibration.readings import read
from warplens.calibration.trial import Buffer

MEASURED = Path(__file__).parents[3] / "measurements" / "h200"
TIMES = read(MEASURED / "calibration.csv")
TRIALS = {trial.name: trial for trial in trials(132) if trial.subject == "unequal"}
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"


def predicted(name: str) -> wl.Prediction:
    trial = TRIALS[name]
    args = [np.zeros(a.bytes // 4, np.float32) if isinstance(a, Buffer) else a for a in trial.args]
    kernel = written_module(source_of("unequal"))[trial.kernel]
    return kernel.launch((trial.grid,), (trial.block,), *args).predict("h200")


@pytest.mark.parametrize(
    "name",
    [
        "some warps, 1 of 4 has 4 times, 4 blocks a multiprocessor",  # each block begins with another sub-partition
        "some warps, 1 of 16 has 16 times, 4 blocks a multiprocessor",
    ],
)
def test_warps_with_more_to_do_are_spread_over_the_sub_partitions(name: str, snapshot: Snapshot) -> None:
    assert snapshot(predicted(name).time_us) == pytest.approx(float(TIMES[name]["value"]), rel=0.05)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "name",
    [
        "equal work, 1056 blocks of 64, 4 rounds",  # all start at once, their ends are noted one after the other
        "equal work, 1056 blocks of 256, 4 rounds",
        "equal work, 1056 blocks of 1024, 4 rounds",  # others take their places
        # and take the seats of warps that have ended while others of their block go on: half as many if they did not
        "some warps, 1 of 16 has 16 times, 40 blocks a multiprocessor",
        "some warps, 1 of 4 has 4 times, 40 blocks a multiprocessor",
    ],
)
def test_as_many_warps_are_active_as_on_an_h200(name: str, snapshot: Snapshot) -> None:
    what, _, parameter = name.partition(", ")
    with (MEASURED / "calibration_active.csv").open(newline="") as file:
        (row,) = (r for r in csv.DictReader(file) if (r["what"], r["parameter"]) == (what, parameter))
    found = predicted(name)
    assert snapshot(found.metrics[OCCUPANCY].value) == pytest.approx(float(row[OCCUPANCY]), abs=3)
    assert snapshot(found.duration_us) == pytest.approx(float(row["gpu__time_duration.sum"]) / 1000, rel=0.08)


def test_the_interval_of_a_short_launch_is_narrow_and_holds_what_an_h200_took() -> None:
    """Most of it is what every launch takes."""
    name = "equal work, 132 blocks of 64, 4 rounds"
    found = predicted(name)
    assert found.low_us <= float(TIMES[name]["value"]) <= found.high_us
    assert found.high_us < 1.1 * found.time_us
    longer = predicted("equal work, 1056 blocks of 256, 64 rounds")
    assert longer.high_us > 1.2 * longer.time_us


@pytest.mark.parametrize(
    "name",
    [
        "store once, 528 KiB, blocks of 1024",  # 4 KiB of each block, while its multiprocessor has nothing else to do
        "store once, 4224 KiB, blocks of 1024",
    ],
)
def test_blocks_stay_until_their_stores_have_left(name: str, snapshot: Snapshot) -> None:
    what, _, parameter = name.partition(", ")
    with (MEASURED / "calibration_active.csv").open(newline="") as file:
        (row,) = (r for r in csv.DictReader(file) if (r["what"], r["parameter"]) == (what, parameter))
    found = predicted(name)
    assert snapshot(found.metrics["sm__cycles_active.avg"].value) == pytest.approx(
        float(row["sm__cycles_active.avg"]), rel=0.15
    )
    assert found.metrics["smsp__average_warps_issue_stalled_drain_per_issue_active.ratio"].value > 1
