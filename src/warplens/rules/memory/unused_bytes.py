"""Unused bytes: lanes step over structs of which only some fields are read, and sectors carry the others along.

An array for each field (structure of arrays) instead of an array of structs, or the fields that are used together in a
struct of their own.  A launch that loads as many bytes as its inputs have is silent: another thread or a later load
may use the rest of a sector.  Nsight Compute: UncoalescedGlobalAccess, which counts both; MemoryCacheAccessPattern,
where less than 32 bytes of a sector are used, estimates the share that is not, times the throughput of the cache.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from warplens.counters.opcodes import access
from warplens.counters.vocabulary import BYTES, GLOBAL, LOAD
from warplens.rules._counted_launch import CountedLaunch, line_with_most, work
from warplens.rules._rule import Finding, rule

SECTOR_BYTES = 32


class UnusedBytesEvidence(NamedTuple):
    """Bytes of each sector that are used, on average over the loads of one struct."""

    used: float


@rule(
    threshold=0.08,
    reads=("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "smsp__inst_executed.sum"),
    fires="rules.cu/one_field",
    silent="rules.cu/all_fields",
)
def unused_bytes(launch: CountedLaunch) -> Finding | None:
    if launch.total(BYTES[GLOBAL & LOAD]) >= launch.input_bytes:
        return None
    groups = strided_loads(launch)
    unused: dict[int, float] = {}
    moved = needed = 0.0
    for loads in groups:
        sectors = moved_once(launch, loads)
        used = sum(int(launch.trace.bytes[index]) for index in loads) / SECTOR_BYTES
        if sectors > used:
            unused[loads[0]] = sectors - used
            moved, needed = moved + sectors, needed + used
    if not unused:
        return None
    evidence = UnusedBytesEvidence(SECTOR_BYTES * needed / moved)
    return Finding("unused_bytes", sum(unused.values()) / work(launch), evidence, line_with_most(launch, unused))


def strided_loads(launch: CountedLaunch) -> list[list[int]]:
    """Loads that have one address but for an offset, and more sectors than their bytes fill; without those whose
    address was itself loaded, which have no stride."""
    found: dict[object, list[int]] = defaultdict(list)
    for instruction in launch.program.instructions:
        index, use = instruction.index, access(instruction)
        if not use or (use.space, use.action) != ("global", "load"):
            continue
        requests = int(launch.trace.requests[index])
        if requests and int(launch.trace.sectors[index]) - int(launch.trace.ideal[index]) > requests:
            found[launch.flow.base_words(index), launch.flow.base_sources(index)].append(index)
    return [loads for loads in found.values() if not from_memory(launch, loads[0])]


def from_memory(launch: CountedLaunch, index: int) -> bool:
    """Whether the address comes from a load."""
    flow = launch.flow
    uses = (access(flow.instructions[maker]) for maker in flow.reach(flow.base_sources(index), flow.sources))
    return any(use is not None and use.space != "constant" for use in uses)


def moved_once(launch: CountedLaunch, loads: list[int]) -> int:
    """Sectors of a struct's fields: the most of those that lie within 32 bytes of each other, as often as there are."""
    most: dict[int, int] = defaultdict(int)
    for index in loads:
        address = launch.flow.address(index)
        place = (address.offset if address else 0) // SECTOR_BYTES
        most[place] = max(most[place], int(launch.trace.sectors[index]))
    return sum(most.values())
