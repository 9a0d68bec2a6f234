"""Which banks of registers an instruction reads, and how often.  F5.

A sub-partition has two banks, of even and of odd registers, and each gives one register of a warp a cycle: an
instruction with two sources of one bank takes two cycles of it, which others may use that read the other; a register
that it names twice is read once.  What an instruction has read with the mark `.reuse` stays beside its operand until
the same operand of another one is read from that bank (Huerta et al., MICRO 2025, arXiv 2503.20481; measured on an
H200: `operands` of the calibration).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warplens.model.places import BANKS
from warplens.program import Instruction, Program, Register

# Bits of the encoding: where operands a, b and c stand, which of them are marked, and what operand b is.
OPERANDS = (24, 32, 64)
REUSE = 122
FORM, ALL_REGISTERS = 9, 1
NONE = 255  # RZ
DOUBLES = frozenset({"DFMA", "DADD", "DMUL", "DSETP"})  # both registers of each source, three cycles for three sources


def register_reads(program: Program, counted: Sequence[bool]) -> NDArray[np.int64]:
    """(instruction, bank) -> registers read, 0 for instructions that are not `counted`."""
    reads = np.zeros((len(program.instructions), BANKS), np.int64)
    for block in program.blocks:
        kept: dict[tuple[int, int], int] = {}
        for instruction in program.instructions[block.first : block.last + 1]:
            if counted[instruction.index]:
                for bank in _read(instruction, kept):
                    reads[instruction.index, bank] += 1
    return reads


def _read(instruction: Instruction, kept: dict[tuple[int, int], int]) -> list[int]:
    """Banks of the registers that have to be read; `kept` by operand and bank, brought up to date."""
    read = []
    asked: set[int] = set()
    for operand, register in sources(instruction):
        bank = register % BANKS
        if kept.get((operand, bank)) != register and register not in asked:
            read.append(bank)
        asked.add(register)
        kept[operand, bank] = register if instruction.encoding >> REUSE + operand & 1 else NONE
    return read


def sources(instruction: Instruction) -> list[tuple[int, int]]:
    """(operand, register), the second of a pair too."""
    double = instruction.base in DOUBLES
    word = instruction.encoding
    named = {o.index for o in instruction.operands if isinstance(o, Register) and o.file == "R"}
    found = []
    for operand, bit in enumerate(OPERANDS):
        register = word >> bit & 0xFF
        if (operand == 1 and word >> FORM & 7 != ALL_REGISTERS) or register == NONE or register not in named:
            continue
        found.append((operand, register))
        if double or (operand == 2 and "WIDE" in instruction.modifiers):
            found.append((operand, register + 1))
    return found
