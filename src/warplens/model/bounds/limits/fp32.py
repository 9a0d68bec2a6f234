"""FP32 limit: float additions, multiplications and FMAs per lane."""

from __future__ import annotations

from warplens.counters.vocabulary import EXECUTED, opcode
from warplens.model.bounds.bound import Bound
from warplens.model.bounds.launch_work import LaunchWork

FLOAT = opcode("FADD", "FMUL", "FFMA")


def bound(work: LaunchWork) -> Bound | None:
    instructions = work.total(EXECUTED[FLOAT])
    if not instructions:
        return None
    limits = work.machine.limits
    rate = limits.fp32_lanes / limits.warp_threads
    return Bound("fp32", work.shared_out(instructions, rate), f"{instructions:,} instructions of float arithmetic")
