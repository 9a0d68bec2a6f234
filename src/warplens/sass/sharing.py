"""Loops in which a warp learns from other blocks how far they are: it takes the next piece of their work, or waits."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.program import Instruction, Loop, Program

FETCHES = frozenset({"ATOM", "ATOMG"})
LOADS = frozenset({"LD", "LDG"})
SAY = frozenset({"STG", "ST", "ATOMG", "ATOM", "RED", "REDG"})
STAY_OUT = SAY | {"STS", "STL", "BAR", "ATOMS", "LDGSTS"}  # who does such things in a loop does more than wait
LONGEST = 64  # instructions of a loop that only waits


def asks(instruction: Instruction) -> bool:
    """Whether what it gives is what other blocks have just written: an atomic on global memory, a load past L1."""
    return instruction.base in FETCHES or past_l1(instruction)


def past_l1(instruction: Instruction) -> bool:
    """Whether it loads what other multiprocessors write (`ld.cg` and volatile loads of an H200 never hit L1)."""
    strong = instruction.base in LOADS and "STRONG" in instruction.modifiers
    return strong and {"CTA", "SM"}.isdisjoint(instruction.modifiers)


def inside(program: Program, loop: Loop) -> Iterator[Instruction]:
    """The instructions of a loop, in the order of the code."""
    for block in program.blocks:
        if block.first in loop.blocks:
            yield from program.instructions[block.first : block.last + 1]


def shares(program: Program) -> bool:
    """Whether a warp asks again and again: then blocks have to go on side by side, as they do on a GPU."""
    return any(asks(i) for loop in program.loops for i in inside(program, loop))


def waiting_loads(program: Program) -> list[int]:
    """Instructions that load, past L1, what a loop waits for."""
    found: set[int] = set()
    for loop in program.loops:
        body = list(inside(program, loop))
        if len(body) <= LONGEST and not any(i.base in STAY_OUT for i in body):
            found.update(i.index for i in body if asks(i))
    return sorted(found)
