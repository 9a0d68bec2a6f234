"""What stores and loads cost on their way to L2, as on an H200 (its calibration.csv)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.calibration import source_of
from warplens.calibration.readings import read
from warplens.calibration.subjects.stores import trials
from warplens.calibration.trial import Buffer, Trial

READ = read(Path(__file__).parents[3] / "measurements" / "h200" / "calibration.csv")
TRIALS = {trial.name: trial for trial in trials(132)}
MEGAHERTZ, LAUNCH = 1980, 2.7  # microseconds that are no part of the readings which a kernel took itself


@cache
def kernels() -> wl.Module:
    return wl.compile(source=source_of("stores"), arch="sm_90")


def modelled(trial: Trial) -> float:
    arguments: list[Any] = []
    for argument in trial.args:
        if isinstance(argument, Buffer):
            arguments.append(np.zeros(argument.bytes // 4, np.float32))
        else:
            arguments.append(argument if isinstance(argument, int) else np.zeros(2048, np.int64))
    time = kernels()[trial.kernel].launch((trial.grid,), (trial.block,), *arguments).predict("h200").time_us
    return time if trial.reads == "time" else (time - LAUNCH) * MEGAHERTZ / trial.per


def measured(name: str) -> float:
    return float(READ[name]["value"])


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "name",
    [
        *(f"stored_words to {shape}, {many} multiprocessors"  # parts of sectors
          for shape, many in (("32 of 1", 1), ("32 of 1", 132), ("8 of 4", 1))),
        *(f"stored_fours to {shape}, {many} multiprocessors"  # whole ones
          for shape in ("16 of 1", "4 of 4") for many in (1, 132)),
    ],
)  # fmt: skip
def test_lines_cost_a_piece_for_each_sector_and_one_for_its_parts(name: str, snapshot: Snapshot) -> None:
    name = f"lines of a store, {name}"
    assert snapshot(modelled(TRIALS[name])) == pytest.approx(measured(name), rel=0.07)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "name",
    [
        "row_of_4 to 4 of 4, 1 warps",  # 10 cycles; each by itself 37
        "row_of_4 to 8 of 1, 8 warps", "turns_of_8 to 8 of 1, 8 warps",  # the other sub-partitions' come between
        "row_of_4 to 32 of 1, 8 warps",  # too many lines
    ],
)  # fmt: skip
def test_stores_to_the_same_lines_leave_together_if_little_comes_between(name: str, snapshot: Snapshot) -> None:
    name = f"stores in a row, {name}"
    assert snapshot(modelled(TRIALS[name])) == pytest.approx(measured(name), rel=0.3)


@pytest.mark.every(5)
@pytest.mark.parametrize("between", ["nothing", "sums", "shared"])
@pytest.mark.parametrize("shape", ["8 of 4", "16 of 2"])
def test_a_load_from_shared_memory_lets_stores_of_many_warps_join(between: str, shape: str, snapshot: Snapshot) -> None:
    """8 of 4: 347 us, 328 us and 195 us."""
    name = f"stores with {between} between, to {shape}, 64 warps"
    assert snapshot(modelled(TRIALS[name])) == pytest.approx(measured(name), rel=0.25)


@pytest.mark.every(9)
@pytest.mark.parametrize("warps", [4, 8, 16])
@pytest.mark.parametrize("loaded", ["nothing", "row", "row_past"])
def test_loads_take_their_part_of_the_way_of_stores(loaded: str, warps: int, snapshot: Snapshot) -> None:
    """8 warps: 35.9 us without loads, 45.6 with a load past L1 for each store."""
    name = f"rows stored and {loaded} loaded, {warps} warps"
    assert snapshot(modelled(TRIALS[name])) == pytest.approx(measured(name), rel=0.2)
