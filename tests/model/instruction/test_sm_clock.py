"""Matrix instructions slow the clock, as on an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from helpers.kernel_launches import written_module
from helpers.snapshots import Snapshot
from warplens.calibration import source_of, trials

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "calibration_active.csv"
TRIALS = {trial.name: trial for trial in trials(132) if trial.subject == "clocks"}


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", ["floats", "doubles", "none"])
def test_the_clock_is_the_one_that_an_h200_had(kind: str, snapshot: Snapshot) -> None:
    name = f"clock of {kind}, 132 x 512, 0 between"
    what, _, parameter = name.partition(", ")
    with MEASURED.open(newline="") as file:
        (row,) = (r for r in csv.DictReader(file) if (r["what"], r["parameter"]) == (what, parameter))
    measured = 1000 * float(row["sm__cycles_elapsed.max"]) / float(row["gpu__time_duration.sum"])
    trial = TRIALS[name]
    args = (np.zeros(4096, np.int64), np.zeros(1024, np.float32), np.int32(20), np.int32(0))
    kernel = written_module(source_of("clocks"))[trial.kernel]
    found = kernel.launch((trial.grid,), (trial.block,), *args).predict("h200").metrics
    cycles, nanoseconds = found["gpc__cycles_elapsed.max"].value, found["gpu__time_duration.sum"].value
    assert snapshot(1000 * cycles / nanoseconds) == pytest.approx(measured, rel=0.02)
