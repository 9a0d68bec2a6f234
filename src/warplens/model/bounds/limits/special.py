"""Special-function limit: reciprocals, roots, exponentials, sines per lane."""

from __future__ import annotations

from warplens.counters.vocabulary import EXECUTED, opcode
from warplens.model.bounds.bound import Bound
from warplens.model.bounds.launch_work import LaunchWork

SPECIAL = opcode("MUFU")


def bound(work: LaunchWork) -> Bound | None:
    instructions = work.total(EXECUTED[SPECIAL])
    if not instructions:
        return None
    limits = work.machine.limits
    rate = limits.special_lanes / limits.warp_threads
    return Bound("special", work.shared_out(instructions, rate), f"{instructions:,} special-function instructions")
