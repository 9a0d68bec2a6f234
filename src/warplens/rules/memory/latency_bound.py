"""Latency bound: too few bytes of global memory are under way at once to fill the time that the memory takes.

Several independent loads a thread before the first is used (several elements, an unrolled loop, 16 bytes a lane), or
more warps: by Little's law an SM must have as many bytes under way as arrive while one load waits.  Nsight Compute:
SOLBottleneck, "Latency Issue", where compute and memory are both below 60 % of their peaks.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.opcodes import access
from warplens.counters.vocabulary import COPY, GLOBAL, LOAD, SECTORS, STORE
from warplens.rules._counted_launch import CountedLaunch, work
from warplens.rules._rule import Finding, rule

LATENCY_CYCLES = 700  # of a load from DRAM: 600 to 800 on GPUs of compute capability 7.5 to 9.0
SECTOR_BYTES = 32
STEADY = 4  # times what is needed under way, from which a launch is more than one wait
MEMORY_SHARE = 0.5  # of the work, from which the memory can be what a launch waits for


class LatencyBoundEvidence(NamedTuple):
    """Of an SM: warps, loads that each has under way, bytes under way, and bytes that would fill the latency."""

    warps: float
    loads: float
    bytes: int
    needed: int


@rule(
    threshold=0.08,
    reads=("sm__maximum_warps_per_active_cycle_pct", "smsp__sass_sectors_mem_global.sum"),
    fires="rules.cu/one_load_at_a_time",
    silent="rules.cu/eight_loads_at_a_time",
)
def latency_bound(launch: CountedLaunch) -> Finding | None:
    machine = launch.machine
    if launch.launch.blocks < machine.multiprocessors:  # idle SMs are the small grid rule's
        return None
    sectors = launch.total(SECTORS[GLOBAL & (LOAD | STORE | COPY)])  # atomics wait for one another, not for DRAM
    share = sectors / work(launch)
    loads, each = loads_under_way(launch)
    per_cycle = 1e3 * machine.dram_gigabytes_per_second / machine.boost_megahertz / machine.multiprocessors
    needed = per_cycle * LATENCY_CYCLES
    steady = SECTOR_BYTES * sectors >= STEADY * needed * machine.multiprocessors
    if share < MEMORY_SHARE or not loads or not steady:
        return None
    launched = launch.launch.blocks * launch.launch.warps_per_block
    warps = min(float(launch.occupancy.warps), launched / machine.multiprocessors)
    under_way = warps * loads * each
    # a half: caches answer sooner than DRAM does
    weight = max(1 - under_way / needed, 0.0) * min(share, 1.0) / 2
    return Finding("latency_bound", weight, LatencyBoundEvidence(warps, loads, int(under_way), int(needed)))


def loads_under_way(launch: CountedLaunch) -> tuple[float, float]:
    """How many loads a warp has under way before it waits for one, on average over its waits, and the bytes of each:
    the loads of a straight piece of code up to the first use of one of them."""
    trace, flow = launch.trace, launch.flow
    loads = waits = moved = 0
    for block in launch.program.blocks:
        pending: set[int] = set()
        for index in range(block.first, block.last + 1):
            if pending and not pending.isdisjoint(flow.sources(index)):
                waits += int(trace.executed[block.first])
                pending = set()
            use = access(launch.program.instructions[index])
            if use and use.space == "global" and use.action in ("load", "copy") and trace.requests[index]:
                pending.add(index)
                loads += int(trace.executed[block.first])
                moved += SECTOR_BYTES * int(trace.sectors[index])
        waits += int(trace.executed[block.first]) if pending else 0
    return (loads / waits, moved / loads) if waits else (0.0, 0.0)
