"""Kernel features: which barriers and how many registers a kernel uses, read off its instructions."""

from __future__ import annotations

from collections.abc import Set

from warplens.core.memory_opcodes import TENSOR_MEMORY
from warplens.core.program import Constant, Immediate, Instruction, Program, Register
from warplens.emulator.analysis.operands import named
from warplens.emulator.state import abi
from warplens.emulator.state.structs import BARRIERS

STACK_POINTER = Register("R", 1)
TENSOR_SLOTS = "UTCATOMSWS"  # the opcode that allocates tensor memory and frees it


def restores_barriers(program: Program) -> bool:
    """`BMOV.32 B6, R16`: the lanes of a convergence barrier come back from a register."""
    targets = [i.operands[0] for i in program.instructions if i.base == "BMOV"]
    return any(isinstance(to, Register) and to.file == "B" for to in targets)


def uses_convergence_barriers(program: Program) -> bool:
    """Whether lanes wait for each other at a convergence barrier."""
    return any(i.base in ("BSYNC", "WARPSYNC") for i in program.instructions)


def barriers_of(program: Program) -> int:
    """How many block barriers the code can use: one more than the highest number it names."""
    highest = -1
    for instruction in program.instructions:
        if instruction.base.startswith("UCGABAR"):
            return BARRIERS
        if instruction.base == "BAR":
            first = next((o for o in instruction.operands if isinstance(o, Immediate)), None)
            if first is None or first is not instruction.operands[0]:
                return BARRIERS
            highest = max(highest, first.bits)
    return min(highest + 1, BARRIERS)


def reads_constant(program: Program, offset: int | None) -> bool:
    """Whether an instruction names this place of constant bank 0."""
    return offset is not None and any(
        isinstance(operand, Constant) and operand.bank == 0 and operand.offset == offset
        for instruction in program.instructions
        for operand in instruction.operands
    )


def allocates_stack(program: Program) -> bool:
    """Whether the stack pointer moves by what a register says (alloca)."""
    moves = (i.operands[1:] for i in program.instructions if i.operands and i.operands[0] == STACK_POINTER)
    return any(isinstance(o, Register) and o.file == "R" and o.index not in (-1, 1) for others in moves for o in others)


def uses_tensor_memory(bases: Set[str]) -> bool:
    """Whether one of these opcodes does."""
    return bool(bases & TENSOR_MEMORY) or TENSOR_SLOTS in bases


def shared_start(program: Program) -> int:
    """Where the shared memory starts that the code may access: code that allocates tensor memory keeps what is
    allocated in the driver's part."""
    keeps = any(i.base == TENSOR_SLOTS for i in program.instructions)
    return 0 if keeps else abi.shared_base(program.arch)


def _run(instruction: Instruction) -> int:
    """How many registers after one that it names an instruction may access, where they are many: accumulators of a
    warpgroup's product, 64x256x16, or those that move to and from tensor memory."""
    if instruction.base in ("LDTM", "STTM"):
        count = next((int(m[1:]) for m in instruction.modifiers if m.startswith("x")), 1)
        return 4 * count - 1
    shape = next((m for m in instruction.modifiers if m.startswith("64x")), None)
    return int(shape.split("x")[1]) // 2 - 1 if shape and instruction.base.endswith("GMMA") else 0


def highest(program: Program) -> dict[str, int]:
    """The highest number that the program names in each file, -1 if it names none."""
    last: dict[str, int] = dict.fromkeys(("R", "B", "UR", "P", "UP"), -1)
    for instruction in program.instructions:
        run = _run(instruction)
        for operand in (instruction.guard, *instruction.operands):
            for register in (r for r in named(operand) if r.index >= 0):
                end = register.index + (run if register.file == "R" else 0)
                last[register.file] = max(last.get(register.file, -1), end)
    return last
