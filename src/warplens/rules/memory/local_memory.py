"""Local memory traffic: spilled registers, or arrays of a thread that are indexed by a variable.

A register has no address: an array whose index is not known at compile time is kept in local memory, which is off chip
behind L1.  Unroll the loop that indexes it, or keep it in shared memory; against spills, fewer live variables or a
higher limit in __launch_bounds__.  Nsight Compute: MemoryCacheAccessPattern for local loads and stores that do not use
whole sectors; none for how many there are.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from warplens.compiler.signature import first_names
from warplens.counters.access_table import sector_rows, wavefront_rows
from warplens.counters.opcodes import access
from warplens.counters.vocabulary import LOCAL, SECTORS
from warplens.rules._counted_launch import CountedLaunch, heaviest_line, work
from warplens.rules._rule import Finding, rule


class LocalMemoryEvidence(NamedTuple):
    """Share of the memory requests; the array and the line that indexes it, "" and 0 where it is not known."""

    share: float
    array: str
    indexed_at: int


@rule(
    threshold=0.08,
    reads=(
        "smsp__inst_executed_op_local_ld.sum",
        "smsp__inst_executed_op_local_st.sum",
        "smsp__sass_sectors_mem_local.sum",
        "smsp__inst_executed.sum",
    ),
    fires="resources/5_capped",
    silent="resources/4_walk_58",
)
def local_memory(launch: CountedLaunch) -> Finding | None:
    everything = sector_rows(launch.whole)
    rows = [row for row in everything if row.name.startswith("Local")]
    requests = sum(row.requests for row in rows)
    if not requests:
        return None
    total = sum(row.requests for row in (*everything, *wavefront_rows(launch.whole)))
    evidence = LocalMemoryEvidence(requests / total, *indexed_array(launch))
    weight = sum(row.units for row in rows) / work(launch)
    return Finding("local_memory", weight, evidence, heaviest_line(launch, SECTORS[LOCAL]))


def indexed_array(launch: CountedLaunch) -> tuple[str, int]:
    """("a", 7) where line 7 indexes the array a by a variable: where addresses do not begin at R1, the stack pointer;
    ("", 0) where no line has exactly one such name."""
    for instruction in launch.program.instructions:
        line, found = instruction.source, access(instruction)
        if not (line and found and found.space == "local" and launch.trace.executed[instruction.index]):
            continue
        if re.search(r"\[R1\b", instruction.text):
            continue
        kernel = launch.kernel
        parameters = first_names(launch.sources.values(), kernel.name, len(kernel.parameters))
        names = set(re.findall(r"\b([A-Za-z_]\w*)\s*\[", launch.text_of(line))) - {*parameters}
        if len(names) == 1:
            return names.pop(), line.line
    return "", 0
