"""Barrier stalls: barriers a warp, and instructions for each."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.instructions.barrier_stalls import BarrierStallsEvidence, barrier_stalls


def test_ten_rounds_of_a_tree() -> None:
    subject = counted("reduction/3_interleaved")
    found = barrier_stalls(subject)
    assert found is not None
    assert isinstance(found.evidence, BarrierStallsEvidence)
    assert found.evidence.barriers == 10
    instructions = subject["smsp__inst_executed.sum"] / subject.warps
    assert found.evidence.instructions == pytest.approx(instructions / 10)
    assert found.line is not None


def test_a_block_of_one_warp_waits_for_nobody() -> None:
    assert barrier_stalls(counted("rules.cu/barriers_of_one_warp")) is None
