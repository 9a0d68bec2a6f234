"""Register cliff: with a few registers fewer a thread, an SM would hold one block more.

Registers are handed out in eights, and a block needs all of its own: `__launch_bounds__(threads, blocks)` asks the
compiler for it, fewer live variables give it.  Watch for spills, which are local memory.  Nsight Compute: the curve
launch__occupancy_per_register_count.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.occupancy import occupancy
from warplens.rules._counted_launch import CountedLaunch, missing_warps_weight
from warplens.rules._rule import Finding, rule

AT_MOST = 4  # registers fewer


class RegisterCliffEvidence(NamedTuple):
    """Registers a thread now, and with which more warps fit; warps of an SM now and then."""

    registers: int
    fewer: int
    warps: int
    more: int


@rule(
    threshold=0.03,
    reads=("launch__registers_per_thread", "sm__maximum_warps_per_active_cycle_pct"),
    fires="rules.cu/past_the_register_cliff",
    silent="rules.cu/before_the_register_cliff",
)
def register_cliff(launch: CountedLaunch) -> Finding | None:
    kernel, here = launch.kernel, launch.occupancy
    if launch.waves < 1 or "registers" not in here.limiters:
        return None
    for fewer in range(here.registers - 1, max(here.registers - AT_MOST, 1) - 1, -1):
        then = occupancy(
            launch.machine, fewer, launch.launch.threads_per_block, kernel.shared_bytes, launch.launch.shared,
            kernel.barriers,
        )  # fmt: skip
        if then.warps > here.warps:
            weight = missing_warps_weight(launch, then.warps - here.warps)
            return Finding(
                "register_cliff", weight, RegisterCliffEvidence(here.registers, fewer, here.warps, then.warps)
            )
    return None
