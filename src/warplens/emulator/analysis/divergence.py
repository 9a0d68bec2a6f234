"""Where a split of a warp may be less than all of its living lanes.

Only there must a result leave the other lanes' registers alone.  The answer errs on the safe side: `True` is always
right, and only slower.
"""

from __future__ import annotations

from dataclasses import dataclass

from warplens.core.program import Immediate, Instruction, Program, Register

# Code whose targets or masks are data: nothing is assumed.
UNKNOWN = {"CALL", "RET", "BRX", "BRXU", "JMP", "ENDCOLLECTIVE", "BMOV"}
TOGETHER = ("U", "ANY")  # branches that all lanes take, or none
GIVES_WAY = {"YIELD", "NANOSLEEP"}  # lanes that wait may go on without those that execute one


@dataclass(frozen=True)
class Convergence:
    """At one place: whether the split may be partial, and for which barriers it was when they were set."""

    split: bool
    partial: frozenset[int] = frozenset()

    def join(self, other: Convergence) -> Convergence:
        return Convergence(self.split or other.split, self.partial | other.partial)

    def step(self, instruction: Instruction, left: frozenset[int], apart: bool) -> Convergence:
        """Behind an instruction; `left`: barriers that lanes leave early, `apart`: whether lanes may disagree here."""
        match instruction.base:
            case "BSSY":
                barrier = barrier_of(instruction).index
                partial = self.partial | {barrier} if self.split else self.partial - {barrier}
                return Convergence(self.split, partial)
            case "BSYNC":
                barrier = barrier_of(instruction).index
                return Convergence(barrier in self.partial or barrier in left, self.partial)
            case "WARPSYNC" if not parts(instruction, apart):
                everyone = "ALL" in instruction.modifiers or any(
                    isinstance(o, Immediate) and o.bits & 0xFFFFFFFF == 0xFFFFFFFF for o in instruction.operands
                )
                guarded = instruction.guard is not None
                return Convergence(not everyone and (self.split or guarded), self.partial)
        return Convergence(True, self.partial) if parts(instruction, apart) else self


def parts(instruction: Instruction, apart: bool) -> bool:
    """Whether lanes go on at different places, or at different times; `apart`: whether they may disagree."""
    if instruction.base == "BRA":
        return apart and not any(m in TOGETHER for m in instruction.modifiers)
    if instruction.base == "WARPSYNC" and "EXCLUSIVE" in instruction.modifiers:
        return True  # lanes with other masks
    return apart and instruction.guard is not None and instruction.base in ("BREAK", "WARPSYNC")


def only_clears(instruction: Instruction) -> bool:
    """`BMOV.32.CLEAR RZ, B0` before every BSSY on sm_75: the mask goes nowhere."""
    first = instruction.operands[0] if instruction.operands else None
    return instruction.base == "BMOV" and isinstance(first, Register) and first.file == "R" and first.index < 0


def meetings(program: Program) -> list[Register]:
    """The convergence barriers at which lanes may wait."""
    named = {barrier_of(i).index: barrier_of(i) for i in program.instructions if i.base == "BSYNC"}
    return [named[index] for index in sorted(named)]


def gives_way(program: Program) -> bool:
    """Whether a BSYNC may be passed without lanes that give way, or that wait elsewhere
    (convergence_barrier_yield.py)."""
    return program.crossed or any(i.base in GIVES_WAY for i in program.instructions)


def left_early(program: Program) -> frozenset[int]:
    """Barriers that some lanes may pass without the others."""
    if gives_way(program):
        return frozenset(barrier.index for barrier in meetings(program))
    return frozenset(barrier_of(i).index for i in program.instructions if i.base == "BREAK")


def barrier_of(instruction: Instruction) -> Register:
    first = instruction.operands[0]
    assert isinstance(first, Register), instruction
    return first
