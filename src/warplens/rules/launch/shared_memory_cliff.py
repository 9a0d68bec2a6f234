"""Shared-memory cliff: with a few bytes fewer a block, an SM would hold one block more.

Less padding, a smaller tile, or two arrays that share the same bytes.  Nsight Compute: the curve
launch__occupancy_per_shared_mem_size.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.occupancy import occupancy
from warplens.rules._counted_launch import CountedLaunch, missing_warps_weight
from warplens.rules._rule import Finding, rule

AT_MOST = 0.1  # of the bytes


class SharedMemoryCliffEvidence(NamedTuple):
    """Bytes a block now, and with which more warps fit; warps of an SM now and then."""

    bytes: int
    fewer: int
    warps: int
    more: int


@rule(
    threshold=0.03,
    reads=("launch__shared_mem_per_block_static", "sm__maximum_warps_per_active_cycle_pct"),
    fires="rules.cu/past_the_shared_cliff",
    silent="rules.cu/before_the_shared_cliff",
)
def shared_memory_cliff(launch: CountedLaunch) -> Finding | None:
    kernel, here = launch.kernel, launch.occupancy
    asked = kernel.shared_bytes + launch.launch.shared
    if launch.waves < 1 or not asked or "shared_mem" not in here.limiters:
        return None
    unit = launch.machine.limits.shared_allocation_unit_bytes
    for fewer in range((asked - 1) // unit * unit, int(asked * (1 - AT_MOST)) - 1, -unit):
        then = occupancy(launch.machine, here.registers, launch.launch.threads_per_block, fewer, 0, kernel.barriers)
        if then.warps > here.warps:
            weight = missing_warps_weight(launch, then.warps - here.warps)
            return Finding(
                "shared_memory_cliff", weight, SharedMemoryCliffEvidence(asked, fewer, here.warps, then.warps)
            )
    return None
