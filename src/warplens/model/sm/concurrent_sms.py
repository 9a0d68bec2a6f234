"""Concurrent SMs: several SMs of one launch, each with its own blocks.

A launch ends with its slowest SM.  Of short launches some SMs or all are simulated: which lines each one finds in L2
depends on when the others have requested them.  So they are simulated twice: first to record when each line is
requested, then with these times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.errors import Unpredictable
from warplens.machine.parameter import assumed
from warplens.model import layout as p
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.sm.activity import History
from warplens.model.sm.simulate import SimulatedKernel, simulate
from warplens.model.sm.sm_state import Counters
from warplens.model.trace.stall_log import StallLog, stall_log
from warplens.model.trace.warp_streams import WarpStreams, select_blocks

LINES = assumed(1 << 20, "hashed lines", "effort: memory; launches simulated in this way request fewer lines")


@dataclass(frozen=True)
class Simulation:
    """Of one SM.  stalls: (reason, instruction);  busy: cycles of each pipe"""

    counts: Counters
    stalls: NDArray[np.float64]
    history: History
    busy: NDArray[np.float64]


def simulate_sms(
    kernel: SimulatedKernel, streams: WarpStreams, chosen: SimulatedBlocks, log: StallLog | None = None
) -> list[Simulation]:
    """One for each chosen SM.  Unpredictable where blocks have not been recorded or do not end.

    log   output: what the warps of the first SM do when
    """
    if not chosen.other_sms:
        never = np.full(1, p.NEVER, np.float64)
        return [_simulate_sm(kernel, select_blocks(streams, chosen.blocks), never, never, log)]
    before, now = np.full(LINES, p.NEVER, np.float64), np.full(LINES, p.NEVER, np.float64)
    every = (chosen.blocks, *chosen.other_sms)
    for blocks in every:
        _simulate_sm(kernel, select_blocks(streams, blocks), before, now)
    unused = np.full(LINES, p.NEVER, np.float64)
    return [
        _simulate_sm(kernel, select_blocks(streams, blocks), now, unused, None if place else log)
        for place, blocks in enumerate(every)
    ]


def _simulate_sm(
    kernel: SimulatedKernel, own: WarpStreams, before: NDArray[np.float64], now: NDArray[np.float64],
    log: StallLog | None = None,
) -> Simulation:  # fmt: skip
    if (own.starts == own.ends).any():
        raise Unpredictable("its blocks execute more than can be recorded: measure it on a GPU")
    counts, history, results = simulate(kernel, own, before, now, log or stall_log())
    if not history.ended.all():
        raise Unpredictable("its warps wait for each other as the model does not know it: measure it on a GPU")
    return Simulation(counts, results.stalls, history, results.busy)
