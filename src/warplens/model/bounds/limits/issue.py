"""Issue limit: a scheduler issues one warp instruction a cycle."""

from __future__ import annotations

from warplens.counters.vocabulary import ALL, EXECUTED
from warplens.model.bounds.bound import Bound
from warplens.model.bounds.launch_work import LaunchWork


def bound(work: LaunchWork) -> Bound | None:
    instructions = work.total(EXECUTED[ALL])
    if not instructions:
        return None
    limits = work.machine.limits
    rate = limits.sub_partitions * limits.instructions_per_cycle
    return Bound("issue", work.shared_out(instructions, rate), f"{instructions:,} warp instructions to issue")
