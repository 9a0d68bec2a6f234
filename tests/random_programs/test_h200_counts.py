"""Counts of random programs beside those that Nsight Compute read on an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from random_programs.compare import BUDGET, compiled
from random_programs.generate import generate
from random_programs.memory import fresh_buffers
from warplens.commands.validate import HUNDREDTH, identity, read_record
from warplens.core.launch import Launch

H200 = Path(__file__).parents[2] / "measurements" / "h200"
RECORD = H200 / "random_programs.csv"
KEPT = read_record(str(RECORD))


@pytest.mark.every(3)
@pytest.mark.long
@pytest.mark.parametrize("seed", sorted(int(name[1:]) for name, *_ in KEPT))
def test_counts_as_on_an_h200(seed: int) -> None:
    program = generate(seed)
    run = compiled([program], "sm_90")[program.name].launch(
        program.grid, program.block, *fresh_buffers(program).args(), threads=1, budget=BUDGET
    )
    measured = KEPT[identity(program.name, Launch(run.launch.grid, run.launch.block))]
    ours = {name: run[name] for name in measured}
    close = {name: abs(ours[name] - metric.value) < HUNDREDTH for name, metric in measured.items()}
    assert all(close.values()), {n: (ours[n], measured[n].value) for n, same in close.items() if not same}
    assert len(measured) > 40


WITH_YIELD = {int(row["seed"]): row for row in csv.DictReader((H200 / "random_yields.csv").open().readlines()[1:])}
MATTER_OF_TIME = {398}  # how often warps try for one word


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", sorted(WITH_YIELD.keys() - MATTER_OF_TIME))
def test_lanes_that_give_way_are_counted_as_on_an_h200(seed: int) -> None:
    program = generate(seed)
    run = compiled([program], "sm_90")[program.name].launch(
        program.grid, program.block, *fresh_buffers(program).args(), threads=1, budget=BUDGET
    )
    assert {name: run[name] for name in run.metrics if name in WITH_YIELD[seed]} == {
        name: float(value) for name, value in WITH_YIELD[seed].items() if name != "seed"
    }
