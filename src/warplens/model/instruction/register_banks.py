"""Register banks: which banks an instruction reads, and how often.

A sub-partition has two banks, of even and of odd registers, and each reads one register of a warp a cycle: an
instruction with two sources in one bank occupies it for two cycles; others may read the other bank meanwhile.  A
register named twice is read once.  A source with the mark `.reuse` stays in the operand's reuse cache until the same
operand of another instruction is read from that bank (Huerta et al., MICRO 2025, arXiv 2503.20481; measured on an
H200: `operands` of the calibration), or until another warp issues (measurements/h200/register_banks.csv: 6.1 cycles for
four warps that change after each mark, 4.2 where they change elsewhere, 6.0 without marks).

A product in two passes reads its factors in each pass, and half of the addend in each.  Where a pass reads two
registers of one bank, that bank is occupied for both passes (`mixture wide`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warplens.core.program import Instruction, Program, Register
from warplens.model.layout import BANKS

# Bits of the encoding: positions of operands a, b and c, their reuse flags, and the form of operand b.
OPERANDS = (24, 32, 64)  # defined: encoding
ADDED = 2  # the third one
REUSE = 122  # defined: encoding
FORM, ALL_REGISTERS = 9, 1  # defined: encoding
NONE = 255  # RZ; defined: encoding
DOUBLES = frozenset({"DFMA", "DADD", "DMUL", "DSETP"})  # both registers of each source, three cycles for three sources


def register_reads(program: Program, counted: Sequence[bool]) -> NDArray[np.int64]:
    """(instruction, 0 or 1, bank) -> registers read, 0 for instructions that are not `counted`; 1: if another warp has
    issued before."""
    reads = np.zeros((len(program.instructions), 2, BANKS), np.int64)
    for block in program.blocks:
        kept: dict[tuple[int, int], int] = {}
        for instruction in program.instructions[block.first : block.last + 1]:
            if counted[instruction.index]:
                of_each = _count_two_pass_reads if takes_two_passes(instruction) else _count_reads
                reads[instruction.index] = (
                    of_each(_uncached_registers(instruction, kept)),
                    of_each(_uncached_registers(instruction, {})),
                )
    return reads


def _count_reads(read: list[tuple[int, int]]) -> list[int]:
    return [sum(register % BANKS == bank for _, register in read) for bank in range(BANKS)]


def _count_two_pass_reads(read: list[tuple[int, int]]) -> list[int]:
    factors = [(operand, register) for operand, register in read if operand != ADDED]
    added = [one for one in read if one not in factors]
    both = zip(_count_reads(factors + added[:1]), _count_reads(factors + added[1:]), strict=True)
    return [max(first, 2) + max(second, 2) if max(first, second) > 1 else first + second for first, second in both]


def takes_two_passes(instruction: Instruction) -> bool:
    return instruction.base == "IMAD" and not {"HI", "WIDE"}.isdisjoint(instruction.modifiers)


def _uncached_registers(instruction: Instruction, kept: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
    """(operand, register) that have to be read; updates `kept`, the reuse cache by operand and bank."""
    read = []
    asked: set[int] = set()
    for operand, register in sources(instruction):
        bank = register % BANKS
        if kept.get((operand, bank)) != register and register not in asked:
            read.append((operand, register))
        asked.add(register)
        kept[operand, bank] = register if instruction.encoding >> REUSE + operand & 1 else NONE
    return read


def sources(instruction: Instruction) -> list[tuple[int, int]]:
    """(operand, register), including the second register of a pair."""
    double = instruction.base in DOUBLES
    word = instruction.encoding
    named = {o.index for o in instruction.operands if isinstance(o, Register) and o.file == "R"}
    found = []
    for operand, bit in enumerate(OPERANDS):
        register = word >> bit & 0xFF
        if (operand == 1 and word >> FORM & 7 != ALL_REGISTERS) or register == NONE or register not in named:
            continue
        found.append((operand, register))
        if double or (operand == ADDED and takes_two_passes(instruction)):
            found.append((operand, register + 1))
    return found
