"""Where a split of a warp may be less than all of its living lanes.

Only there must a result leave the other lanes' registers alone.  The answer errs on the safe side: `True` is always
right, and only slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warplens.program import Block, Immediate, Instruction, Program, Register

# Code whose targets or masks are data: nothing is assumed.
UNKNOWN = {"CALL", "RET", "BRX", "BRXU", "JMP", "ENDCOLLECTIVE", "BMOV"}
TOGETHER = ("U", "ANY")  # branches that all lanes take, or none


@dataclass(frozen=True)
class State:
    """At one place: whether the split may be partial, and for which barriers it was when they were set."""

    split: bool
    partial: frozenset[int] = frozenset()

    def join(self, other: State) -> State:
        return State(self.split or other.split, self.partial | other.partial)


def split_blocks(program: Program) -> Mapping[int, bool]:
    """For each block, by its first instruction: whether it may run with a part of the warp."""
    instructions = program.instructions
    if any(i.base in UNKNOWN and not _only_clears(i) for i in instructions):
        return {block.first: True for block in program.blocks}
    left = frozenset(_barrier(i) for i in instructions if i.base == "BREAK")
    by_start = {block.first: block for block in program.blocks}
    states: dict[int, State] = {0: State(False)}
    todo = [0]
    while todo:
        start = todo.pop()
        block = by_start[start]
        after = _through(program, block, states[start], left)
        for successor in {*block.successors, *_next(block, by_start)}:
            joined = after.join(states[successor]) if successor in states else after
            if states.get(successor) != joined:
                states[successor] = joined
                todo.append(successor)
    return {start: states[start].split if start in states else True for start in by_start}


def _next(block: Block, by_start: Mapping[int, Block]) -> list[int]:
    return [block.last + 1] if block.last + 1 in by_start else []


def _only_clears(instruction: Instruction) -> bool:
    """`BMOV.32.CLEAR RZ, B0` before every BSSY on sm_75: the mask goes nowhere."""
    first = instruction.operands[0] if instruction.operands else None
    return (
        instruction.base == "BMOV" and isinstance(first, Register) and first.file == "R" and first.index < 0
    )


def _through(program: Program, block: Block, state: State, left: frozenset[int]) -> State:
    for index in range(block.first, block.last + 1):
        state = _step(program.instructions[index], state, left)
    return state


def _step(instruction: Instruction, state: State, left: frozenset[int]) -> State:
    match instruction.base:
        case "BSSY":
            barrier = _barrier(instruction)
            partial = state.partial | {barrier} if state.split else state.partial - {barrier}
            return State(state.split, partial)
        case "BSYNC":
            barrier = _barrier(instruction)
            return State(barrier in state.partial or barrier in left, state.partial)
        case "WARPSYNC":
            everyone = "ALL" in instruction.modifiers or any(
                isinstance(o, Immediate) and o.bits & 0xFFFFFFFF == 0xFFFFFFFF for o in instruction.operands
            )
            return State(not everyone and (state.split or instruction.guard is not None), state.partial)
        case "BRA" if _may_part(instruction):
            return State(True, state.partial)
        case "BREAK" | "BAR" if instruction.guard is not None:
            return State(True, state.partial)
    return state


def _barrier(instruction: Instruction) -> int:
    first = instruction.operands[0]
    assert isinstance(first, Register), instruction
    return first.index


def _may_part(instruction: Instruction) -> bool:
    if any(m in TOGETHER for m in instruction.modifiers):
        return False
    lanes = [instruction.guard, *instruction.operands]
    return any(isinstance(r, Register) and r.file == "P" for r in lanes)
