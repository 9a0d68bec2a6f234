"""Concurrent SMs: several SMs of one launch, each with its own blocks.

A launch ends with its slowest SM.  Of short launches some SMs or all are simulated: which lines each one finds in L2
depends on when the others have requested them.  So they are simulated twice: first to record when each line is
requested, then with these times.  Neither depends on what the other SMs do at the same time, so they run on threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event

import numpy as np
from numpy.typing import NDArray

from warplens.emulator import available_threads
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
    never = np.full(1, p.NEVER, np.float64)
    stop = Event()
    if not chosen.other_sms:
        return [_simulate_sm(kernel, select_blocks(streams, chosen.blocks), never, never, stop, log)]
    every = (chosen.blocks, *chosen.other_sms)
    threads = min(available_threads(), len(every))
    requested = [np.full(LINES, p.NEVER, np.float64) for _ in range(threads)]

    def simulated(blocks: tuple[int, ...], others: NDArray[np.float64], seen: StallLog | None = None) -> Simulation:
        mine = requested.pop()  # of this thread
        try:
            return _simulate_sm(kernel, select_blocks(streams, blocks), others, mine, stop, seen)
        finally:
            requested.append(mine)

    simulated(every[0], never)  # compiles what all need
    with _threads(threads, stop) as pool:
        deque(pool.map(lambda blocks: simulated(blocks, never), every[1:]), maxlen=0)
        now = requested[0].copy()
        for others in requested[1:]:
            np.minimum(now, others, out=now)
        logs = (log, *[None] * (len(every) - 1))
        return list(pool.map(lambda blocks, seen: simulated(blocks, now, seen), every, logs))


@contextmanager
def _threads(number: int, stop: Event) -> Iterator[ThreadPoolExecutor]:
    """Threads, which end soon once one has failed or the caller is interrupted."""
    pool = ThreadPoolExecutor(number)
    try:
        yield pool
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _simulate_sm(
    kernel: SimulatedKernel, own: WarpStreams, before: NDArray[np.float64], now: NDArray[np.float64], stop: Event,
    log: StallLog | None = None,
) -> Simulation:  # fmt: skip
    if (own.starts == own.ends).any():
        raise Unpredictable("its blocks execute more than can be recorded: measure it on a GPU")
    counts, history, results = simulate(kernel, own, before, now, log or stall_log(), stop)
    if not history.ended.all():
        raise Unpredictable("its warps wait for each other as the model does not know it: measure it on a GPU")
    return Simulation(counts, results.stalls, history, results.busy)
