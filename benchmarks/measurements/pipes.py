"""Cycles that a sub-partition with four warps takes for one instruction of an opcode, alone and with others behind it.

The words of the instructions are the examples in measurements/h200/opcodes.csv; all registers that they read become one
register, and results go to another that nothing reads.
"""

from __future__ import annotations

import csv
import re
import statistics
from functools import cache
from pathlib import Path

from cubin_loops import (
    ALL_REGISTERS,
    CONTROL,
    CONTROL_BITS,
    DESTINATION,
    FORM,
    MARKS,
    OPERANDS,
    SECOND,
    STALL,
    STEPS,
    Instruction,
    cycles,
    registers,
    replaced,
)
from gpu import Gpu

SOURCE = ""
READS = ("alone", "and_lop3", "and_imad", "and_ffma", "and_two_ffma", "and_dfma")
COMPANIONS = {
    "alone": (), "and_lop3": ("LOP3.LUT",), "and_imad": ("IMAD",), "and_ffma": ("FFMA",),
    "and_two_ffma": ("FFMA", "FFMA"), "and_dfma": ("DFMA",),
}  # fmt: skip
WARPS = 16
OPCODES = Path(__file__).parents[2] / "measurements" / "h200" / "opcodes.csv"
GUARD, ALWAYS = 12, 7
PREDICATES, FREE = (81, 84), 5  # first bits of predicates that are written; one that the loop does not use


@cache
def examples() -> dict[str, tuple[str, int]]:
    """Operands as text and instruction word of each opcode that sm_90 has."""
    with OPCODES.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["encoding"] and "90" in row["architectures"].split()]
    return {row["opcode"]: (row["operands"], int(row["encoding"], 16)) for row in rows}


def word(opcode: str, control: int) -> int:
    """The opcode's example without a guard: it reads one register and writes one of a pair that nothing reads."""
    text, found = examples()[opcode]
    named = {int(number) for number in re.findall(r"\bR(\d+)", text)}
    pairs = [r for r in registers() if r % 2 == 0 and r + 1 in registers()]
    source, result = pairs[0], pairs[-1]
    for bit in (DESTINATION, *OPERANDS):
        reads_b = bit != SECOND or found >> FORM & 7 == ALL_REGISTERS
        if reads_b and found >> bit & 0xFF in named:
            found = found & ~(0xFF << bit) | (result if bit == DESTINATION else source) << bit
    for bit in PREDICATES:
        if f"P{found >> bit & 7}" in text.split(",")[:3]:
            found = found & ~(7 << bit) | FREE << bit
    found &= ~(((1 << CONTROL_BITS) - 1) << CONTROL | 0xF << GUARD)
    return found | control << CONTROL | ALWAYS << GUARD


def control_of(instruction: Instruction) -> int:
    """Of a multiply-add of the loop, with a stall count of one and no mark for reuse."""
    marks = 0xF << MARKS - CONTROL | 0xF << STALL - CONTROL
    return instruction.encoding >> CONTROL & (1 << CONTROL_BITS) - 1 & ~marks | 1


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, str] | None:
    if row["opcode"] not in examples():
        return None
    found = {}
    for column, companions in COMPANIONS.items():
        chain = (row["opcode"], *companions)
        cubin = replaced(lambda place, i, chain=chain: word(chain[place % len(chain)], control_of(i)))  # type: ignore[misc]
        each = statistics.median(cycles(gpu, cubin, WARPS)) / (WARPS / 4)
        found[column] = f"{each * len(chain):.3f}"
        if each <= 0:  # the example is of another architecture, whose word this GPU does not execute
            return None
    return found


assert STEPS % 6 == 0
