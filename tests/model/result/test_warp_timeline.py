"""The timeline of an SM: each warp does one thing at a time, and nothing of the prediction changes."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.report_runs import RUNS
from warplens.commands.target import targets
from warplens.model.layout import REASONS, StallReason
from warplens.model.result.sm_replay import read_log
from warplens.model.result.warp_timeline import WarpTimeline
from warplens.model.trace.stall_log import BLOCK_START
from warplens.run import Run


@pytest.fixture(scope="module")
def run() -> Run:
    (target,) = targets(*RUNS["transpose"])
    return target.run().timed()


@pytest.fixture(scope="module")
def found(run: Run) -> WarpTimeline:
    return run.timeline()


def test_a_warp_does_one_thing_at_a_time(found: WarpTimeline) -> None:
    for warp in range(len(found.warps)):
        own = found.warp == warp
        assert (np.diff(found.start[own]) >= 0).all()
        assert (found.start[own][1:] >= found.end[own][:-1]).all()


def test_every_instruction_that_a_warp_executes_is_issued_once(run: Run, found: WarpTimeline) -> None:
    assert not found.cut
    issued = np.bincount(found.instruction[found.reason == StallReason.SELECTED], minlength=len(run.trace.executed))
    blocks = len({block for block, _ in found.warps})
    assert (issued * run.launch.blocks == run.trace.executed * blocks).all()


def test_shares_are_those_of_the_prediction_where_one_sm_is_like_the_others(run: Run, found: WarpTimeline) -> None:
    assert run.prediction is not None
    shares, total = found.shares(), sum(run.prediction.stalls.values())
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["long_scoreboard"] == pytest.approx(run.prediction.stalls["long_scoreboard"] / total, abs=0.1)


def test_the_prediction_does_not_change(run: Run, found: WarpTimeline) -> None:
    assert run.predict() == run.prediction


def test_a_log_is_read_by_warp_and_slots_are_used_again() -> None:
    wait, issue = REASONS.index("wait"), REASONS.index("selected")
    rows = np.array([
        [0, BLOCK_START, 0, 5, 0], [4, BLOCK_START, 0, 6, 1], [0, wait, 3, 5, 8], [0, issue, 3, 8, 9],
        [0, BLOCK_START, 1, 20, 0], [0, wait, 0, 20, 20], [0, issue, 0, 20, 21], [4, issue, 3, 7, 8],
    ], np.float64)  # fmt: skip
    found = read_log(rows, 1000.0, False)
    assert found.warps == ((0, 0), (0, 1), (1, 0))
    assert found.warp.tolist() == [0, 0, 1, 2]
    assert found.start.tolist() == [5, 8, 7, 20]
    assert found.cycles == 21
    assert found.shares() == {"selected": 0.5, "wait": 0.5}
