"""Divergence analysis: where a warp split may hold fewer than all live lanes of its warp.

Only there must a result leave the other lanes' registers alone.  The analysis is conservative: `True` is always
correct, and only slower.
"""

from __future__ import annotations

from dataclasses import dataclass

from warplens.core.program import Immediate, Instruction, Label, Program, Register

# Opcodes whose targets or masks are data: nothing is assumed.
DATA_DEPENDENT = {"CALL", "RET", "BRX", "BRXU", "JMP", "ENDCOLLECTIVE", "BMOV"}
TOGETHER = ("U", "ANY")  # branches that all lanes take, or none
YIELDS = {"YIELD", "NANOSLEEP"}  # waiting lanes may be released without those that execute one


@dataclass(frozen=True)
class Convergence:
    """At one place: whether the split may be partial, and for which barriers it was when they were set."""

    split: bool
    partial: frozenset[int] = frozenset()

    def join(self, other: Convergence) -> Convergence:
        return Convergence(self.split or other.split, self.partial | other.partial)

    def step(self, instruction: Instruction, left: frozenset[int], may_disagree: bool) -> Convergence:
        """After an instruction; `left`: barriers passed early, `may_disagree`: its predicates may differ by lane."""
        match instruction.base:
            case "BSSY":
                barrier = barrier_of(instruction).index
                partial = self.partial | {barrier} if self.split else self.partial - {barrier}
                return Convergence(self.split, partial)
            case "BSYNC":
                barrier = barrier_of(instruction).index
                return Convergence(barrier in self.partial or barrier in left, self.partial)
            case "WARPSYNC" if not diverges(instruction, may_disagree):
                everyone = "ALL" in instruction.modifiers or any(
                    isinstance(o, Immediate) and o.bits & 0xFFFFFFFF == 0xFFFFFFFF for o in instruction.operands
                )
                guarded = instruction.guard is not None
                return Convergence(not everyone and (self.split or guarded), self.partial)
        return Convergence(True, self.partial) if diverges(instruction, may_disagree) else self


def diverges(instruction: Instruction, may_disagree: bool) -> bool:
    """Whether lanes may continue at different places or times; `may_disagree`: whether their predicates may differ."""
    if instruction.base == "BRA":
        return may_disagree and not any(m in TOGETHER for m in instruction.modifiers)
    if instruction.base == "WARPSYNC" and "EXCLUSIVE" in instruction.modifiers:
        return True  # lanes with other masks
    return may_disagree and instruction.guard is not None and instruction.base in ("BREAK", "WARPSYNC")


def only_clears(instruction: Instruction) -> bool:
    """`BMOV.32.CLEAR RZ, B0` before every BSSY on sm_75: the mask is discarded."""
    first = instruction.operands[0] if instruction.operands else None
    return instruction.base == "BMOV" and isinstance(first, Register) and first.file == "R" and first.index < 0


def has_label(call: Instruction) -> bool:
    """Whether a call goes to a function of the program, always the same."""
    return any(isinstance(operand, Label) for operand in call.operands[:1])


def convergence_barriers(program: Program) -> list[Register]:
    """The convergence barriers at which lanes may wait."""
    named = {barrier_of(i).index: barrier_of(i) for i in program.instructions if i.base == "BSYNC"}
    return [named[index] for index in sorted(named)]


def may_yield(program: Program) -> bool:
    """Whether a BSYNC may release lanes while others have yielded or wait elsewhere (simt/)."""
    return program.crossed or any(i.base in YIELDS for i in program.instructions)


def early_passed_barriers(program: Program) -> frozenset[int]:
    """Convergence barriers that some lanes may pass before the others arrive."""
    if may_yield(program):
        return frozenset(barrier.index for barrier in convergence_barriers(program))
    return frozenset(barrier_of(i).index for i in program.instructions if i.base == "BREAK")


def barrier_of(instruction: Instruction) -> Register:
    first = instruction.operands[0]
    assert isinstance(first, Register), instruction
    return first
