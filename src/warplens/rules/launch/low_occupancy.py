"""Low occupancy: an SM holds at most half of its warps, so that fewer are ready while others wait.

Fewer registers or bytes of shared memory, or larger blocks, by what limits it; or more independent work in each
thread, which needs fewer warps.  Nsight Compute: TheoreticalOccupancy, below 80 %.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.rules._counted_launch import CountedLaunch, missing_warps_weight
from warplens.rules._rule import Finding, rule

PERCENT = 50  # of the SM's warps, the theoretical occupancy above which nothing is reported


class LowOccupancyEvidence(NamedTuple):
    """Warps that an SM holds, of how many; the resources that limit them: "registers", "shared_mem", "warps",
    "blocks", "barriers"."""

    warps: int
    most: int
    limiters: tuple[str, ...]


@rule(
    threshold=0.08,
    reads=("sm__maximum_warps_per_active_cycle_pct", "launch__waves_per_multiprocessor"),
    fires="resources/6_shared_115200",
    silent="resources/6_shared_57344",
)
def low_occupancy(launch: CountedLaunch) -> Finding | None:
    here = launch.occupancy
    if here.percent > PERCENT or launch.waves < 1:  # with so few blocks no limit is reached
        return None
    limiters = tuple(name for name in here.limiters if name != "shared_mem" or uses_shared_memory(launch))
    most = launch.machine.limits.warps_per_multiprocessor
    weight = missing_warps_weight(launch, most - here.warps)
    return Finding("low_occupancy", weight, LowOccupancyEvidence(here.warps, most, limiters))


def uses_shared_memory(launch: CountedLaunch) -> bool:
    """Whether shared memory limits by what the kernel takes: each block has some for the system."""
    return bool(launch.kernel.shared_bytes + launch.launch.shared) or "blocks" not in launch.occupancy.limiters
