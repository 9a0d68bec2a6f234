"""Loop not unrolled: a counted loop whose counter, comparison and branch are a large part of what it executes.

`#pragma unroll 4`, or a number of rounds that is known when the kernel is compiled, leaves a quarter of them or none,
and lets the loads of several rounds be under way at once.  `#pragma unroll 1` in the source keeps a loop as it is.
Nsight Compute: no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.core.program import Loop
from warplens.rules._counted_launch import ISSUE, CountedLaunch, executed, line_with_most, work
from warplens.rules._rule import Finding, rule

FACTOR = 4  # by which the compiler unrolls by itself
FEWEST_ROUNDS = 4
LARGEST_BODY = 32  # instructions: NVRTC unrolls no larger loops of its own
KEEPS = frozenset({"BAR", "CALL", "BRX", "NANOSLEEP"})


class LoopNotUnrolledEvidence(NamedTuple):
    """Instructions of a round, how many of them only keep the loop going, and rounds a warp."""

    instructions: int
    overhead: int
    rounds: float


@rule(
    threshold=0.03,
    reads=("smsp__inst_executed.sum", "smsp__inst_executed_op_branch.sum"),
    fires="unrolling/1_once",
    silent="unrolling/3_four_times",
)
def loop_not_unrolled(launch: CountedLaunch) -> Finding | None:
    found = [(loop, control) for loop in short_loops(launch) if (control := loop_control(launch, loop))]
    if not found:
        return None
    unrolled = {i for idiom in launch.idioms if idiom.name.startswith("loop unrolled") for i in idiom.instructions}
    found = [(loop, control) for loop, control in found if not control & unrolled]
    if not found:
        return None
    loop, control = max(found, key=lambda pair: executed(launch, pair[1]))
    evidence = LoopNotUnrolledEvidence(len(launch.flow.body(loop)), len(control), rounds(launch, loop))
    amounts = {index: executed(launch, [index]) for _, control in found for index in control}
    weight = ISSUE * sum(amounts.values()) * (1 - 1 / FACTOR) / work(launch)
    return Finding("loop_not_unrolled", weight, evidence, line_with_most(launch, amounts))


def short_loops(launch: CountedLaunch) -> list[Loop]:
    """Innermost loops with a short body that warps went round several times."""
    loops = launch.program.loops
    inner = [loop for loop in loops if not any(other.blocks < loop.blocks for other in loops)]
    return [loop for loop in inner if rounds(launch, loop) >= FEWEST_ROUNDS and is_short(launch, loop)]


def is_short(launch: CountedLaunch, loop: Loop) -> bool:
    spans = [range(b.first, b.last + 1) for b in launch.program.blocks if b.first in loop.blocks]
    bases = {launch.program.instructions[index].base for span in spans for index in span}
    return sum(map(len, spans)) <= LARGEST_BODY and not bases & KEEPS


def rounds(launch: CountedLaunch, loop: Loop) -> float:
    """How often a warp goes round, on average over the warps that enter: executions of the header over entries."""
    went = int(launch.trace.executed[loop.header])
    back = sum(
        int(launch.trace.executed[b.last]) for b in launch.program.blocks
        if b.first in loop.blocks and loop.header in b.successors
    )  # fmt: skip
    leaving = sum(  # a branch back that falls through once a warp
        int(launch.trace.executed[b.first]) for b in launch.program.blocks
        if b.first not in loop.blocks and any(
            b.first in inside.successors for inside in launch.program.blocks if inside.first in loop.blocks
        )
    )  # fmt: skip
    return went / leaving if back and leaving else 0.0


def loop_control(launch: CountedLaunch, loop: Loop) -> frozenset[int]:
    """The branch back, the comparison that it hangs on, and the step of the counter; empty where it hangs on data, or
    where another branch leaves the loop."""
    flow = launch.flow
    body = set(flow.body(loop))
    inside = [b for b in launch.program.blocks if b.first in loop.blocks]
    back = [b.last for b in inside if loop.header in b.successors and flow.base(b.last) == "BRA"]
    if any(b.last not in back and set(b.successors) - loop.blocks for b in inside):
        return frozenset()
    tests = {i for branch in back for i in flow.guard_sources(branch) if i in body and "SETP" in flow.base(i)}
    steps = {i for test in tests for i in flow.sources(test) if i in body and i in flow.sources(i)}
    return frozenset({*back, *tests, *steps}) if tests and steps else frozenset()
