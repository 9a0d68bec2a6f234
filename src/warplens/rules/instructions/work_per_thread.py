"""Work per thread: each thread handles one element, and most of what it executes finds out which.

Indices, bounds and addresses cost the same for four elements as for one: several elements a thread (uchar4, float4, a
loop over neighbours of one row), or a grid-stride loop.  Nsight Compute: no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.core.program import Instruction
from warplens.counters.opcodes import BRANCHES, access, category
from warplens.rules._counted_launch import ISSUE, CountedLaunch, executed, work
from warplens.rules._rule import Finding, rule

INTEGER = frozenset({"integer", "move and select", "uniform", "constant memory", "control"})
DOMINATES = 0.5  # of the work
SPARED = 3 / 4  # of it, with four elements a thread


class WorkPerThreadEvidence(NamedTuple):
    """Instructions of a thread, and those of indices, bounds and addresses among them."""

    instructions: float
    indexing: float


@rule(
    threshold=0.1,
    reads=("smsp__inst_executed.sum", "launch__thread_count"),
    fires="rules.cu/byte_a_thread",
    silent="rules.cu/sixteen_bytes_a_thread",
)
def work_per_thread(launch: CountedLaunch) -> Finding | None:
    program = launch.program
    went = [i.index for i in program.instructions if launch.trace.executed[i.index]]
    if not went or any(launch.trace.executed[loop.header] for loop in program.loops):
        return None  # a thread that goes round a loop has several elements, or much to do for one
    if ISSUE * executed(launch, (i for i in went if integer(program.instructions[i]))) < DOMINATES * work(launch):
        return None
    indexing = executed(launch, indexing_of(launch) & set(went))
    share = ISSUE * indexing / work(launch)
    if share < DOMINATES:
        return None
    warps = launch.launch.blocks * launch.launch.warps_per_block
    evidence = WorkPerThreadEvidence(executed(launch, went) / warps, indexing / warps)
    # a half: it is hidden where the memory or the start of blocks takes longer
    return Finding("work_per_thread", SPARED * share / 2, evidence)


def integer(instruction: Instruction) -> bool:
    return category(instruction) in INTEGER


def indexing_of(launch: CountedLaunch) -> set[int]:
    """Integer instructions that addresses and conditions come from, and the branches on these; not what is computed
    from loaded data."""
    flow = launch.flow
    memory = [i.index for i in launch.program.instructions if (use := access(i)) and use.space != "constant"]
    data = flow.reach(memory, lambda index: flow.users[index])
    kept = {i.index for i in launch.program.instructions if integer(i)} - data
    branches = {i for i in kept if flow.base(i) in BRANCHES and flow.guard_sources(i) <= kept}
    guards = {maker for index in branches for maker in flow.guard_sources(index)}
    addresses = {maker for index in memory for maker in flow.base_sources(index)}
    return branches | flow.reach((guards | addresses) & kept, lambda index: flow.sources(index) & kept)
