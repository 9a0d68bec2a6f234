"""Which banks of registers instructions read."""

from __future__ import annotations

import numpy as np

from helpers.kernel_launches import written_module
from warplens.calibration import source_of
from warplens.machine import machine
from warplens.model.instruction.instruction_table import machine_code


def reads(name: str) -> tuple[float, float]:
    """Mean of each bank for the multiply-adds of the longest block of code."""
    program = written_module(source_of("operands"))[name].program
    reads = machine_code(program, machine("h200")).bank_reads
    longest = max(program.blocks, key=lambda block: block.last - block.first)
    inside = program.instructions[longest.first : longest.last + 1]
    found = np.array([reads[i.index, 0] for i in inside if i.base == "FFMA"])
    even, odd = found.mean(0)
    return float(even), float(odd)


def test_an_instruction_reads_each_register_of_its_own_from_one_of_two_banks() -> None:
    even, odd = reads("fma_own_1")
    assert even + odd > 2.9  # three sources, and the fullest bank is what an H200 takes: 2.01 cycles
    assert max(even, odd) > 1.9


def test_what_is_marked_for_reuse_is_read_once() -> None:
    even, odd = reads("fma_same_4")
    assert even + odd < 1.1  # one source is uniform, one is kept: only that of the chain is read


def test_memory_instructions_do_not_count() -> None:
    program = written_module(source_of("operands"))["fma_own_1"].program
    reads = machine_code(program, machine("h200")).bank_reads
    assert not any(reads[i.index].any() for i in program.instructions if i.base in ("LDC", "STG", "S2R"))
