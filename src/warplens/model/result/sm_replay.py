"""SM replay: the simulation behind a prediction once more, with a log of what each warp does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplens.model.result.extrapolation import simulated_kernel
from warplens.model.result.request import PredictionRequest, SimulationInput
from warplens.model.result.warp_timeline import WarpTimeline
from warplens.model.sm.concurrent_sms import simulate_sms
from warplens.model.trace.stall_log import BLOCK_START, stall_log

ENTRIES = 24_000  # defined: 64 warps with some hundred instructions each; a third of a megabyte of a page


def warp_timeline(request: PredictionRequest, inputs: SimulationInput, entries: int = ENTRIES) -> WarpTimeline:
    """Simulates the SM again, with a log."""
    log = stall_log(entries)
    simulate_sms(simulated_kernel(request, inputs), inputs.streams, inputs.chosen, log)
    return read_log(log.entries, request.machine.boost_megahertz, log.full)


def read_log(rows: NDArray[np.float64], megahertz: float, cut: bool) -> WarpTimeline:
    """Entries of a log, sorted: each slot holds one warp after the other."""
    slot, reason, what = (rows[:, column].astype(np.int64) for column in range(3))
    start, end = rows[:, 3], rows[:, 4]
    begins = np.flatnonzero(reason == BLOCK_START)
    found = [(int(what[at]), int(end[at])) for at in begins]
    number = {warp: place for place, warp in enumerate(sorted(found))}
    holder = np.full(len(rows), -1)
    for at, warp in zip(begins, found, strict=True):  # later warps of a slot take over
        holder[at:][slot[at:] == slot[at]] = number[warp]
    order = np.lexsort((start, holder))
    order = order[(reason[order] != BLOCK_START) & (holder[order] >= 0)]
    holder, reason, what, start, end = (column[order] for column in (holder, reason, what, start, end))
    # A warp that arrives at a barrier waits for it from then on, whatever else it would have waited for.
    same = holder[1:] == holder[:-1]
    end[:-1][same] = np.minimum(end[:-1], start[1:])[same]
    kept = end > start
    return WarpTimeline(
        tuple(number), holder[kept], reason[kept], what[kept], start[kept], end[kept], megahertz, cut
    )  # fmt: skip
