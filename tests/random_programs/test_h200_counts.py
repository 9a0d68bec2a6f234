"""Counts of random programs beside those that Nsight Compute read on an H200."""

from __future__ import annotations

from pathlib import Path

import pytest

from random_programs.compare import BUDGET, compiled
from random_programs.generate import generate
from random_programs.memory import fresh_buffers
from warplens.launch import Launch
from warplens.validation import HUNDREDTH, identity, read_record

RECORD = Path(__file__).parents[2] / "measurements" / "h200" / "random_programs.csv"
KEPT = read_record(str(RECORD))
# A loop with YIELD, in which one meeting of 5 lanes differs.
DIFFERENT = {40008}


@pytest.mark.long
@pytest.mark.parametrize("seed", sorted({int(name[1:]) for name, *_ in KEPT} - DIFFERENT))
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
