"""Redundant loads: all warps of a block load the same global data, because an axis of threadIdx is not in the address.

Stage it in shared memory: each thread loads another element, and after a barrier all read the tile.  Only what L1 and
L2 need not move is counted: sectors, less the wavefronts that reading them from shared memory takes.  Nsight Compute:
no rule.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from warplens.core.program import Special
from warplens.counters.opcodes import access
from warplens.rules._counted_launch import CountedLaunch, line_with_most, work
from warplens.rules._rule import Finding, rule

AXES = ("X", "Y", "Z")
SECTOR_BYTES = 32
LANES_MIX = frozenset({"SHFL", "LDS", "LDSM", "ATOMS", "ATOM", "ATOMG"})  # of other lanes or warps, or of all


class RedundantLoadsEvidence(NamedTuple):
    """Warps of a block that load the same; the axes of threadIdx that are not in the address, "y" or "xy"; share of the
    global sectors that staging would save."""

    warps: int
    axes: str
    share: float


@rule(
    threshold=0.08,
    reads=("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "smsp__sass_sectors_mem_global.sum"),
    fires="sgemm/2_coalesced",
    silent="sgemm/3_tiled",
)
def redundant_loads(launch: CountedLaunch) -> Finding | None:
    if launch.launch.warps_per_block == 1:
        return None
    saved: dict[int, float] = {}
    missing: dict[int, tuple[int, str]] = {}
    for instruction in launch.program.instructions:
        index, found = instruction.index, access(instruction)
        if not (launch.trace.requests[index] and found and (found.space, found.action) == ("global", "load")):
            continue
        axes = axes_without(launch, index)
        warps = warps_alike(launch, axes)
        if warps > 1 and (amount := saving(launch, index, warps)) > 0:
            saved[index], missing[index] = amount, (warps, axes.lower())
    if not saved:
        return None
    warps, axes = missing[max(saved, key=lambda index: saved[index])]
    all_saved, moved = sum(saved.values()), int(launch["smsp__sass_sectors_mem_global.sum"])
    evidence = RedundantLoadsEvidence(warps, axes, all_saved / max(moved, 1))
    return Finding("redundant_loads", all_saved / work(launch), evidence, line_with_most(launch, saved))


def axes_without(launch: CountedLaunch, index: int) -> str:
    """The axes with several threads that no part of the address comes from; "" where it comes from other lanes."""
    flow = launch.flow
    makers = flow.reach(flow.base_sources(index), flow.sources)
    if any(flow.base(maker) in LANES_MIX for maker in makers):
        return ""
    names = {o.name for maker in makers for o in flow.instructions[maker].operands if isinstance(o, Special)}
    if "SR_LANEID" in names:
        return ""
    several = [axis for axis, size in zip(AXES, launch.launch.block, strict=True) if size > 1]
    return "".join(axis for axis in several if f"SR_TID.{axis}" not in names)


def warps_alike(launch: CountedLaunch, axes: str) -> int:
    """How many warps of a block differ along these axes only."""
    lanes, along = 32, []
    for size in launch.launch.block:
        inside = min(lanes, size)
        along.append(max(size // inside, 1))
        lanes = max(lanes // inside, 1)
    return prod(warps for axis, warps in zip(AXES, along, strict=True) if axis in axes)


def saving(launch: CountedLaunch, index: int, warps: int) -> float:
    """Sectors, less those of loading everything once, and less the wavefronts of storing and reading the tile."""
    requests = int(launch.trace.requests[index])
    once = int(launch.trace.bytes[index]) / SECTOR_BYTES / warps
    return float(int(launch.trace.sectors[index]) - once - requests - requests / warps)
