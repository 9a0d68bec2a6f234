"""Limit text: the bottleneck of a prediction as one line, and the share of the grid that was simulated.

One function per cause; a cause without one is a TypeError.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import singledispatch

from warplens.model.result.bottleneck import (
    AtomicBacklog,
    BankConflicts,
    BlockChain,
    BlockLaunchRate,
    Bottleneck,
    BusyUnit,
    Cause,
    FullQueue,
    GlobalWait,
    InFlightAtExit,
    LaunchOverhead,
    MemoryLatency,
    StallWait,
    VariableLatency,
)
from warplens.model.result.prediction import Prediction, Simulated

REPEATED = 1.1  # repetitions of the simulated part from which on a report mentions them
WAITS = {
    "wait": "the latency of arithmetic: each instruction waits for the one before, and too few warps fill the gaps",
    "barrier": "barriers: warps wait for the slowest of their block",
    "math_pipe_throttle": "an arithmetic pipe that is asked for more than it can do",
    "branch_resolving": "branches",
    "no_instruction": "the code itself: it is executed for the first time",
    "membar": "memory fences",
    "gmma": "matrix products of warpgroups",
    "dispatch_stall": "the banks of registers: instructions that read several registers of one",
}
ATOMICS = "atomic operations: L2 does those on one word one after the other"
GLOBAL_WAITS = {
    "atomic": "the latency of atomic operations: warps wait for the old values that L2 gives back",
    "reduction": f"{ATOMICS}, and those behind them wait",
    "store": "stores to global memory: warps wait until what they store has been taken",
}


def with_text(prediction: Prediction) -> Prediction:
    """The prediction with its limit, and what was simulated, in words."""
    simulated = replace(prediction.simulated, why=simulated_text(prediction.simulated))
    return replace(prediction, limit=limit_text(prediction.bottleneck), simulated=simulated)


def simulated_text(part: Simulated) -> str:
    if part.blocks == part.of_blocks and part.repetitions > REPEATED:
        return f"the first {100 / part.repetitions:.0f} % of what one SM executes: the rest is taken to repeat it"
    if part.blocks == part.of_blocks:
        ends_last = part.repetitions < 1 / REPEATED
        return (
            "all blocks of the SM that ends last"
            if ends_last
            else "all blocks of one SM; the others have the same work"
        )
    waves = f"{math.ceil(part.blocks / part.resident)} waves of {part.resident}"
    return f"{part.blocks} of the {part.of_blocks} blocks of one SM, {waves}: the rest repeats them"


def limit_text(bottleneck: Bottleneck) -> str:
    idle, blocks = bottleneck.idle_sms, bottleneck.blocks
    leave = "1 block leaves" if blocks == 1 else f"{blocks} blocks leave"
    where = f"{leave} {idle} of {bottleneck.sms} SMs idle; in the others " if idle else ""
    return where + cause_text(bottleneck.cause)


@singledispatch
def cause_text(cause: Cause) -> str:
    raise TypeError(f"no text for the cause {type(cause).__qualname__}")


@cause_text.register
def _(cause: LaunchOverhead) -> str:
    return f"launch overhead: {cause.launch_us:.1f} of {cause.time_us:.1f} µs"


@cause_text.register
def _(cause: BlockChain) -> str:
    return f"each block waits for what one before it says ({cause.time_percent:.0f} % of the time)"


@cause_text.register
def _(cause: BlockLaunchRate) -> str:
    rate = f"{cause.blocks:,} blocks at {cause.peak:.2g} blocks/cycle"
    return f"block launch rate: {rate}; use larger blocks or more work per thread"


@cause_text.register
def _(cause: BusyUnit) -> str:
    figures = f"{cause.achieved:,.4g} of {cause.peak:,.4g} {cause.unit}"
    return f"{cause.name}: {figures}{conflict_text(cause.conflicts)}"


@cause_text.register
def _(cause: MemoryLatency) -> str:
    if not cause.loads:
        return f"the latency of {cause.level}: warps wait for what they have asked for, not for bandwidth"
    size = cause.load_bytes
    what = f"one {size}-byte load" if cause.loads == 1 else f"{cause.loads} loads of {size} bytes together"
    return f"each thread has {what} in flight: the latency of {cause.level}, not its bandwidth"


@cause_text.register
def _(cause: GlobalWait) -> str:
    return GLOBAL_WAITS[cause.action]


@cause_text.register
def _(cause: InFlightAtExit) -> str:
    what = " and ".join(["stores"] * cause.stores + ["atomic operations"] * cause.atomics)
    return f"{what} that are still on their way to L2 when their warps end{time_text(cause.time_percent)}"


@cause_text.register
def _(cause: AtomicBacklog) -> str:
    return f"{ATOMICS}, for {cause.time_percent:.0f} % of the time after the last warp has ended"


@cause_text.register
def _(cause: FullQueue) -> str:
    if cause.entries == "atomics":
        queue = f"{ATOMICS}, and the queues before it are full"
    elif cause.entries in ("loads", "stores"):
        narrow = ": too many instructions for the bytes that they move" if cause.narrow else ""
        queue = f"the queue for global memory accesses, full of {cause.entries}{narrow}"
    else:
        queue = f"the queue for {cause.entries}"
    return queue + time_text(cause.time_percent) + conflict_text(cause.conflicts)


@cause_text.register
def _(cause: VariableLatency) -> str:
    *others, last = cause.resources or ("instructions of variable latency",)
    names = f"{', '.join(others)} and {last}" if others else last
    return f"the latency of {names}{time_text(cause.time_percent)}{conflict_text(cause.conflicts)}"


@cause_text.register
def _(cause: StallWait) -> str:
    return WAITS[cause.reason] + time_text(cause.time_percent) + conflict_text(cause.conflicts)


def time_text(percent: float) -> str:
    return f" ({percent:.0f} % of the warps' time)"


def conflict_text(conflicts: BankConflicts | None) -> str:
    if conflicts is None:
        return ""
    percent = 100 * conflicts.added / conflicts.wavefronts
    return f"; {percent:.0f} % of the wavefronts of shared memory are bank conflicts"
