"""Cycles of a multiply-add whose operands lie in chosen banks of the register file."""

from __future__ import annotations

import statistics

from cubin_loops import (
    ALL_REGISTERS,
    FORM,
    MARKS,
    NONE,
    OPERANDS,
    SECOND,
    STALL,
    Instruction,
    cycles,
    registers,
    replaced,
)
from gpu import Gpu

SOURCE = ""
READS = ("cycles", "low", "high")
BODY = 128  # instructions: the patterns repeat after 1, 2, 4, 8 or 16


def cubin(pattern: str) -> bytes:
    """The loop with other operands: E an even register, O an odd one, S that of the instruction before, - none; marked
    for reuse with *, and behind : the stall count if it is not 1."""
    named = registers(BODY)
    of = {"E": [r for r in named if r % 2 == 0], "O": [r for r in named if r % 2], "-": [NONE]}
    steps, before = pattern.split(), NONE

    def word(place: int, instruction: Instruction) -> int:
        nonlocal before
        operands, _, stall = steps[place % len(steps)].partition(":")
        found = instruction.encoding & ~(0xF << STALL | 7 << MARKS | 0xFFFFFFFF << SECOND | 7 << FORM)
        found |= int(stall or 1) << STALL | ALL_REGISTERS << FORM
        for k, bit in enumerate(OPERANDS):
            kind, operands = operands[0], operands[1:]
            register = before if kind == "S" else of[kind][(place + k) % len(of[kind])]
            before = register if k == 0 else before
            found = found & ~(0xFF << bit) | register << bit
            if operands.startswith("*"):
                found, operands = found | 1 << MARKS + k, operands[1:]
        return found

    return replaced(word, BODY)


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, str]:
    """Of one warp, or of four on each sub-partition: `cycles` are those of a sub-partition for one step of each."""
    found = cycles(gpu, cubin(row["pattern"]), int(row["warps"]), BODY)
    return dict(zip(READS, (f"{x:.3f}" for x in (statistics.median(found), found[0], found[-1])), strict=True))
