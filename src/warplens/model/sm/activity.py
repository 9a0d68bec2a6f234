"""SM activity: active cycles and active warps, as Nsight Compute counts them.

An SM is active while a block is resident, from the block's assignment until some cycles after its last instruction;
with short blocks it has none at times, and it is idle while the ends of its blocks are being reported.  An SM with one
block fewer than the simulated one is active until the last but one of the latter's blocks has ended.
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
    """cycles   active cycles of an SM, averaged over all that the GPU has
    warp_cycles   of its resident warps, likewise"""

    cycles: float
    warp_cycles: float


@dataclass(frozen=True)
class History:
    """Of each simulated block: its first cycle, the cycle after its last, and the resident cycles of its warps.

    reported   when the end of the last one was reported to the GPU
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
    """warps: of a block;  total: blocks of the grid;  longer: time of the whole SM / time of the simulated part.

    histories   of several SMs, each with its own blocks, or of one that represents all
    """
    if len(histories) > 1:
        return _several_sms(histories, chosen, machine, warps, total)
    (history,) = histories
    whole = chosen.of_blocks
    cycles, warp_cycles = _single_sm(history, machine, warps)
    cycles, warp_cycles = cycles * longer, warp_cycles * longer
    if chosen.busy:
        share = chosen.busy * chosen.active / machine.multiprocessors
        return Activity(share * cycles, share * warp_cycles)
    fewer = 1 - (total - (whole - 1) * machine.multiprocessors) / machine.multiprocessors if whole > 1 else 0.0
    less, warps_less = cycles * (whole - 1) / whole, warp_cycles * (whole - 1) / whole
    if 1 < whole == history.ended.size:
        less, warps_less = (value * longer for value in _single_sm(history.without_last(), machine, warps))
    share = chosen.active / machine.multiprocessors
    active = share * (cycles + fewer * (less - cycles))
    return Activity(active, share * (warp_cycles + fewer * (warps_less - warp_cycles)))


def _several_sms(
    histories: Sequence[History], chosen: SimulatedBlocks, machine: Machine, warps: int, total: int
) -> Activity:
    share = chosen.active / machine.multiprocessors
    each = np.array([_single_sm(history, machine, warps) for history in histories])
    cycles, warp_cycles = np.average(each, axis=0, weights=_weights(histories, chosen, total))
    return Activity(share * float(cycles), share * float(warp_cycles))


def _weights(histories: Sequence[History], chosen: SimulatedBlocks, total: int) -> Times:
    """Weights of the simulated SMs: how many of the grid's SMs have as many blocks as each."""
    more = np.array([history.began.size == chosen.of_blocks for history in histories])
    if more.all() or not more.any():
        return np.ones(more.size)
    have_more = total - (chosen.of_blocks - 1) * chosen.active
    weights: Times = np.where(more, have_more / more.sum(), (chosen.active - have_more) / (~more).sum())
    return weights


def _single_sm(history: History, machine: Machine, warps: int) -> tuple[float, float]:
    """(active cycles, warp cycles) of an SM with these blocks."""
    speeds = machine.speeds
    order = np.argsort(history.began)
    began, ended = history.began[order], history.ended[order] + speeds.resident_cycles
    until = np.maximum.accumulate(ended)
    idle = np.maximum(began[1:] - until[:-1], 0).sum()
    overhead = warps * began.size * speeds.resident_cycles
    return float(until[-1] - began[0] - idle), float(history.resided.sum()) + overhead
