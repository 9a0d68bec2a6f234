"""Warps that end while atomics of theirs are on their way, as on an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.calibration import source_of, trials

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "calibration_active.csv"
TRIALS = {trial.name: trial for trial in trials(132) if trial.subject == "endings"}
KERNEL = wl.compile(source=source_of("endings"), arch="sm_90")["add_and_end"]


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("said", "active"),
    [
        ("1 lanes every 0, 16 times, 1 blocks a multiprocessor", 0.25),  # all have room: nobody waits for L2
        ("32 lanes every 1, 1 times, 8 blocks a multiprocessor", 0.25),
        ("32 lanes every 32, 16 times, 1 blocks a multiprocessor", 0.2),  # few have: most of the time all wait
        ("32 lanes every 8, 4 times, 8 blocks a multiprocessor", 0.2),
        ("32 lanes every 32, 1 times, 8 blocks a multiprocessor", 0.2),  # each ends when its own have room
    ],
)
def test_multiprocessors_are_active_while_atomics_have_no_room(said: str, active: float, snapshot: Snapshot) -> None:
    """The launch ends when L2 has done them all."""
    name = f"add and end, {said}"
    with MEASURED.open(newline="") as file:
        (row,) = (r for r in csv.DictReader(file) if (r["what"], r["parameter"]) == ("add and end", said))
    trial = TRIALS[name]
    numbers = [np.int32(value) for value in trial.args if isinstance(value, int)]
    words = np.zeros(1 << 18, np.uint32)
    found = KERNEL.launch((trial.grid,), (trial.block,), words, *numbers).predict("h200").metrics
    assert snapshot(found["sm__cycles_active.avg"].value) == pytest.approx(
        float(row["sm__cycles_active.avg"]), rel=active
    )
    assert snapshot(found["gpc__cycles_elapsed.max"].value) == pytest.approx(
        float(row["sm__cycles_elapsed.max"]), rel=0.1
    )
