"""Arithmetic in turn, lanes that part and chains of loads, as an H200 does them: the readings of the calibration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.kernel_launches import written_module
from helpers.snapshots import Snapshot
from warplens.calibration import source_of, trials
from warplens.calibration.readings import read
from warplens.machine import machine

READ = read(Path(__file__).parents[3] / "measurements" / "h200" / "calibration.csv")
SUBJECTS = ("mixtures", "parting", "shared")
TRIALS = {trial.name: trial for trial in trials(132) if trial.subject in SUBJECTS}
FEW, MANY = 4, 12  # rounds: what is beside them does not count


def cycles(name: str) -> float:
    """Of a step, in the model."""
    trial = TRIALS[name]
    ticks, sink = np.zeros(32, np.int64), np.zeros(1024, "V4")  # floats or integers
    times = []
    for rounds in (FEW, MANY):
        kernel = written_module(source_of(trial.subject))[trial.kernel]
        run = kernel.launch((1,), (trial.block,), ticks, sink, rounds, *trial.args[3:])
        times.append(run.predict("h200").time_us * machine("h200").boost_megahertz)
    return (times[1] - times[0]) / (MANY - FEW) / (trial.per / int(trial.args[2]))


@pytest.mark.every(12)
@pytest.mark.parametrize(
    "name",
    [
        "mixture high, one chain, 1 warps",  # its result comes late
        "mixture wide, one chain, 1 warps",  # the lower half sooner than the upper one
        "mixture wide_lop, 4 warps",  # what is beside it comes late as well
        "mixture high_sel, 32 warps",  # the ALU is taken, too
        "mixture ffma_ffma_imad, 4 warps",  # floats take turns between the halves of the FMA pipe, one of them busy
        "mixture half_imad, 16 warps",  # half pairs go where integer products go
        "mixture half_ffma, 4 warps",  # and take the other half of the pipe as well
        "mixture add_imad, 16 warps",  # additions of whole numbers in two pipes
        "mixture ffmas_mufu_ffmas, 16 warps",  # what comes late takes a place
        "doubles own_4, 32 warps",  # six registers from two banks
        "hops taken never, 4 warps",
        "two sides, all, 1 warps",  # lanes meet again
        "two sides, half, 1 warps",
        "chain shared 4 B",  # four wavefronts, two cycles each
        "chain shared 16 B",  # likewise, and the last of four registers comes three cycles behind the first
        "chain shared atomic",
        "chase shared",
    ],
)
def test_a_step_takes_as_many_cycles_as_on_an_h200(name: str, snapshot: Snapshot) -> None:
    assert snapshot(cycles(name)) == pytest.approx(float(READ[name]["value"]), rel=0.05)
