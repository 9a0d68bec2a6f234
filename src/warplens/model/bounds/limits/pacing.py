"""Pacing limit: the compiler's stall counts, minimum cycles between a warp's instructions.

Each warp of the launch spends these cycles at least, and only resident warps spend them concurrently.  Waits for memory
and for other long operations (scoreboards) come on top.  Diverged lanes are assumed to run one after the other, which
is not measured.
"""

from __future__ import annotations

from warplens.core.program import Instruction
from warplens.counters.vocabulary import launched_warps
from warplens.model.bounds.bound import Bound
from warplens.model.bounds.launch_work import LaunchWork
from warplens.sass.control_codes import LONGEST_STALL


def bound(work: LaunchWork) -> Bound | None:
    executed = work.trace.executed
    cycles = sum(pace(i) * int(executed[i.index]) for i in work.program.instructions)
    if not cycles:
        return None
    warps = launched_warps(work.trace.launch)
    at_once = min(warps, work.occupancy.warps * work.multiprocessors)
    says = f"{cycles / warps:,.0f} cycles a warp between its issues, {at_once:,} at once"
    return Bound("pacing", work.microseconds(cycles / at_once), says)


def pace(instruction: Instruction) -> int:
    """Cycles to the warp's next issue; none follows an EXIT that all lanes take."""
    control = instruction.control
    if instruction.base == "EXIT":
        return 1
    if control.stall > LONGEST_STALL and not control.yield_hint:
        return 1
    return max(control.stall, 1)
