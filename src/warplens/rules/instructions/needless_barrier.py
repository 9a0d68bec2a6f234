"""Needless barrier: __syncthreads() in a block of one warp, or with no access to memory before the next one or the end.

A warp needs __syncwarp() at most.  A barrier orders the accesses before it and those after it: where there are none
after it, nothing waits for anything.  Nsight Compute: no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.opcodes import access
from warplens.rules._counted_launch import BARRIER, ISSUE, CountedLaunch, executed, line_with_most, work
from warplens.rules._rule import Finding, rule

SHARED_BETWEEN_THREADS = frozenset({"shared", "global", "generic"})
NOT_FOLLOWED = frozenset({"CALL", "BRX", "JMX", "RET"})


class NeedlessBarrierEvidence(NamedTuple):
    """Needless barriers that a warp executes; whether because it is the only one of its block."""

    barriers: float
    one_warp: bool


@rule(
    threshold=0.03,
    reads=("smsp__inst_executed.sum", "launch__block_size"),
    fires="rules.cu/barriers_of_one_warp",
    silent="rules.cu/no_barriers_of_one_warp",
)
def needless_barrier(launch: CountedLaunch) -> Finding | None:
    barriers = [
        i.index for i in launch.program.instructions
        if i.opcode.startswith("BAR.SYNC") and launch.trace.executed[i.index]
    ]  # fmt: skip
    one_warp = launch.launch.warps_per_block == 1
    needless = {i: float(executed(launch, [i])) for i in barriers if one_warp or not orders_something(launch, i)}
    if not needless:
        return None
    number = sum(needless.values())
    warps = launch.launch.blocks * launch.launch.warps_per_block
    weight = (ISSUE + BARRIER) * number / (work(launch) + BARRIER * number)
    line = line_with_most(launch, needless)
    return Finding("needless_barrier", weight, NeedlessBarrierEvidence(number / warps, one_warp), line)


def orders_something(launch: CountedLaunch, barrier: int) -> bool:
    """Whether an access to memory that other threads see can follow before the next barrier."""
    program = launch.program
    blocks = {block.first: block for block in program.blocks}
    own = launch.flow.block_of[barrier]
    waiting, seen = [(own, barrier + 1)], set()
    while waiting:
        block, first = waiting.pop()
        for index in range(first, block.last + 1):
            instruction = program.instructions[index]
            found = access(instruction)
            if instruction.base in NOT_FOLLOWED or (found and found.space in SHARED_BETWEEN_THREADS):
                return True
            if instruction.base == "BAR":
                break
        else:
            waiting += [(blocks[s], s) for s in block.successors if s not in seen]
            seen |= set(block.successors)
    return False
