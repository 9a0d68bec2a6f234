"""Active cycles where some multiprocessors have a block more than others."""

from __future__ import annotations

import numpy as np
import pytest

from warplens.machine import machine
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.instruction.sm_resources import SmResources
from warplens.model.sm.activity import History, activity

H200 = machine("h200")


def stayed(blocks: int, cycles: float) -> History:
    return History(np.zeros(blocks), np.full(blocks, cycles), np.full(blocks, cycles), cycles)


def test_each_simulated_multiprocessor_stands_for_those_with_as_many_blocks() -> None:
    """144 blocks on 132 multiprocessors: 12 have two, which take each other's time, and 120 have one."""
    chosen = SimulatedBlocks((0, 132), ((66,),), (), (), 2, 132, SmResources(2, 2, 16, 4))
    two, one = stayed(2, 20_000), stayed(1, 10_000)
    found = activity([two, one], chosen, H200, 1, 144, 1.0)
    behind = H200.speeds.resident_cycles
    assert found.cycles == pytest.approx((12 * 20_000 + 120 * 10_000) / 132 + behind)
    assert found.warp_cycles == pytest.approx((12 * 2 * (20_000 + behind) + 120 * (10_000 + behind)) / 132)
