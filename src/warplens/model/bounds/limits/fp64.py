"""FP64 limit: double additions, multiplications and FMAs per lane."""

from __future__ import annotations

from warplens.counters.vocabulary import EXECUTED, opcode
from warplens.model.bounds.bound import Bound
from warplens.model.bounds.launch_work import LaunchWork

DOUBLE = opcode("DADD", "DMUL", "DFMA")


def bound(work: LaunchWork) -> Bound | None:
    instructions = work.total(EXECUTED[DOUBLE])
    if not instructions:
        return None
    limits = work.machine.limits
    rate = limits.fp64_lanes / limits.warp_threads
    return Bound("fp64", work.shared_out(instructions, rate), f"{instructions:,} instructions of double arithmetic")
