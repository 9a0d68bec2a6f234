"""Misaligned rows: warps begin inside a 128-byte line, so that their accesses cover one line more than they fill.

Rows whose length is no multiple of 128 bytes: pad them (cudaMallocPitch, and the pitch as row length), or let the first
warp of a row begin at a line.  A stencil's neighbours are left out: of accesses at several offsets from one address,
one begins at a line.  Nsight Compute: UncoalescedGlobalAccess, for the sectors of it: none where rows begin at
multiples of 32 bytes.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.opcodes import access
from warplens.rules._counted_launch import CountedLaunch, line_with_most, work
from warplens.rules._rule import Finding, rule

SECTORS_PER_LINE = 4
ALL_OF_THEM = 0.95  # of the requests cover two lines, and no sector is wasted: two half rows, not one misaligned one


class MisalignedRowsEvidence(NamedTuple):
    """Of the misaligned accesses: 128-byte lines per request, and those that would do."""

    lines: float
    ideal: float


@rule(
    threshold=0.05,
    reads=("smsp__sass_l1tex_tags_mem_global.sum", "memory_l2_theoretical_sectors_global_ideal"),
    fires="pitched/2_unpadded",
    silent="pitched/4_pitch_in_floats",
)
def misaligned_rows(launch: CountedLaunch) -> Finding | None:
    found = accesses(launch)
    suspects = [index for index in found if extra(launch, index) and misaligned(launch, index)]
    if not suspects:
        return None
    bases = {launch.flow.base_words(index) for index in suspects}
    near = (i for i in found if not extra(launch, i) and launch.flow.base_words(i) in bases)
    aligned = {start(launch, index) for index in near}
    excess = {index: extra(launch, index) for index in suspects if start(launch, index) not in aligned}
    if not excess:
        return None
    requests = sum(int(launch.trace.requests[index]) for index in excess)
    covered = sum(int(launch.trace.tags[index]) for index in excess)
    more = sum(excess.values())
    evidence = MisalignedRowsEvidence(covered / requests, (covered - more) / requests)
    return Finding("misaligned_rows", more / work(launch), evidence, line_with_most(launch, excess))


def accesses(launch: CountedLaunch) -> list[int]:
    """Loads and stores of global memory that were executed."""
    return [
        i.index for i in launch.program.instructions
        if launch.trace.requests[i.index] and (found := access(i))
        and found.space == "global" and found.action in ("load", "store")
    ]  # fmt: skip


def extra(launch: CountedLaunch, index: int) -> float:
    """Lines beyond those that the bytes would fill."""
    trace = launch.trace
    fewest = max(int(trace.requests[index]), int(trace.ideal[index]) / SECTORS_PER_LINE)
    return float(max(int(trace.tags[index]) - fewest, 0))


def misaligned(launch: CountedLaunch, index: int) -> bool:
    """Whether the extra lines are those of neighbouring lanes that begin inside a line: at most one sector and one
    line a request, and not exactly two half lines in each."""
    requests, sectors = int(launch.trace.requests[index]), int(launch.trace.sectors[index])
    lines, wasted = extra(launch, index), sectors - int(launch.trace.ideal[index])
    if wasted > requests or lines > requests:
        return False
    return wasted > 0 or lines < ALL_OF_THEM * requests


def start(launch: CountedLaunch, index: int) -> tuple[object, object]:
    """What an address is an offset from."""
    return launch.flow.base_words(index), launch.flow.base_sources(index)
