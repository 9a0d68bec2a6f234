"""How long multiprocessors are active, and how many warps they have then: Nsight Compute's counters.

A multiprocessor is active while a block is on it, from when it is given one until some cycles behind its last
instruction; where blocks are short it has none at times, and while the ends of its blocks are being noted it is idle.
One that is given a block fewer than the simulated one is active until the last but one of that one's blocks has ended.
Measured on an H200: `unequal` of the calibration, counters in measurements/h200/calibration_active.csv.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.machine import Machine
from warplens.model.grid.simulated_blocks import SimulatedBlocks

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Activity:
    """cycles   active ones of a multiprocessor, the average of all that the GPU has
    warp_cycles   of warps that are on it, likewise
    """

    cycles: float
    warp_cycles: float


@dataclass(frozen=True)
class History:
    """Of each simulated block: the cycle in which it gets its place, that behind its last, and its warps' cycles.

    reported   when the GPU knew of the last one's end
    """

    began: Times
    ended: Times
    resided: Times
    reported: float

    def without_last(self) -> History:
        kept = np.arange(self.ended.size) != int(self.ended.argmax())
        return History(self.began[kept], self.ended[kept], self.resided[kept], self.reported)


def activity(
    histories: Sequence[History], chosen: SimulatedBlocks, machine: Machine, warps: int, total: int, longer: float
) -> Activity:
    """warps: of a block;  total: blocks of the grid;  longer: how many times the simulated part all of it takes.

    histories   of several multiprocessors, with blocks of their own, or of one, which stands for all
    """
    if len(histories) > 1:
        return _of_several(histories, chosen, machine, warps, total)
    (history,) = histories
    whole = chosen.of_blocks
    cycles, warp_cycles = _of_one(history, machine, warps)
    cycles, warp_cycles = cycles * longer, warp_cycles * longer
    fewer = 1 - (total - (whole - 1) * machine.multiprocessors) / machine.multiprocessors if whole > 1 else 0.0
    less, warps_less = cycles * (whole - 1) / whole, warp_cycles * (whole - 1) / whole
    if 1 < whole == history.ended.size:
        less, warps_less = (value * longer for value in _of_one(history.without_last(), machine, warps))
    share = chosen.active / machine.multiprocessors
    active = share * (cycles + fewer * (less - cycles))
    return Activity(active, share * (warp_cycles + fewer * (warps_less - warp_cycles)))


def _of_several(
    histories: Sequence[History], chosen: SimulatedBlocks, machine: Machine, warps: int, total: int
) -> Activity:
    share = chosen.active / machine.multiprocessors
    each = np.array([_of_one(history, machine, warps) for history in histories])
    cycles, warp_cycles = np.average(each, axis=0, weights=_weights(histories, chosen, total))
    return Activity(share * float(cycles), share * float(warp_cycles))


def _weights(histories: Sequence[History], chosen: SimulatedBlocks, total: int) -> Times:
    """As many multiprocessors have a block more, and a block fewer, as the grid leaves: the simulated ones stand for
    those with as many."""
    more = np.array([history.began.size == chosen.of_blocks for history in histories])
    if more.all() or not more.any():
        return np.ones(more.size)
    have_more = total - (chosen.of_blocks - 1) * chosen.active
    weights: Times = np.where(more, have_more / more.sum(), (chosen.active - have_more) / (~more).sum())
    return weights


def _of_one(history: History, machine: Machine, warps: int) -> tuple[float, float]:
    """(active cycles, warps' cycles) of a multiprocessor with these blocks."""
    speeds = machine.speeds
    order = np.argsort(history.began)
    began, ended = history.began[order], history.ended[order] + speeds.resident_cycles
    until = np.maximum.accumulate(ended)
    idle = np.maximum(began[1:] - until[:-1], 0).sum()
    overhead = warps * began.size * speeds.resident_cycles
    return float(until[-1] - began[0] - idle), float(history.resided.sum()) + overhead
