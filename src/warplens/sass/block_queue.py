"""Inter-block work queues: loops that take work items from global memory, or wait for other blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warplens.core.memory_opcodes import DEVICE_WIDE, EVERY_SPACE, opcodes
from warplens.core.program import Address, Instruction, Loop, Program, Register

PUBLISHES = opcodes(DEVICE_WIDE, ("store", "atomic", "reduction"))  # what other blocks can see
ATOMICS = opcodes(DEVICE_WIDE, ("atomic",))
LOADS = opcodes(DEVICE_WIDE, ("load",))
WORK = frozenset({"BAR", *opcodes(EVERY_SPACE, ("store", "atomic", "reduction", "copy"))})
"""Opcodes that a loop which only waits does not contain."""
WAIT_LOOP_INSTRUCTIONS = 64  # the most of a loop that only waits
EXITS = frozenset({"BRA", "BREAK", "EXIT", "BRX", "JMP", "JMX", "RET"})  # whose guard decides when the loop ends
WIDE = {"64": 2, "F64": 2, "WIDE": 2, "128": 4, "256": 8}
Word = tuple[str, int]


def reads_other_blocks(instruction: Instruction) -> bool:
    """Whether its result is what other blocks have just written: an atomic on global memory, a load past L1."""
    return instruction.base in ATOMICS or past_l1(instruction)


def past_l1(instruction: Instruction) -> bool:
    """Whether it loads what other multiprocessors write (`ld.cg` and volatile loads of an H200 never hit L1)."""
    strong = instruction.base in LOADS and "STRONG" in instruction.modifiers
    return strong and {"CTA", "SM"}.isdisjoint(instruction.modifiers)


def inside(program: Program, loop: Loop) -> Iterator[Instruction]:
    """The instructions of a loop, in the order of the code."""
    for block in program.blocks:
        if block.first in loop.blocks:
            yield from program.instructions[block.first : block.last + 1]


def polls_other_blocks(program: Program) -> bool:
    """Whether a loop reads what other blocks write: then resident blocks must run interleaved, as they do on a GPU."""
    return any(reads_other_blocks(i) for loop in program.loops for i in inside(program, loop))


def waiting_loads(program: Program) -> list[int]:
    """Instructions that load, past L1, the value on which the end of a waiting loop depends."""
    found: set[int] = set()
    for loop in program.loops:
        body = list(inside(program, loop))
        if len(body) <= WAIT_LOOP_INSTRUCTIONS and not any(i.base in WORK for i in body):
            found.update(i.index for i in body if reads_other_blocks(i) and _ends_it(i, body))
    return sorted(found)


def _ends_it(load: Instruction, body: Sequence[Instruction]) -> bool:
    """Whether a branch of the loop depends on what was loaded, through any register computed from it."""
    made = set(_results(load))
    while new := {word for i in body if made & _reads(i) for word in _results(i)} - made:
        made |= new
    return any(i.base in EXITS and made & _reads(i) for i in body)


def _results(i: Instruction) -> set[Word]:
    """What an instruction writes: its first operand, and a predicate after it."""
    first = [o for place, o in enumerate(i.operands[:2]) if isinstance(o, Register) and (not place or "P" in o.file)]
    return _words(first, _width(i))


def _reads(i: Instruction) -> set[Word]:
    """What it may read: its guard, and all operands but the first (of a branch that too); of addresses both halves."""
    operands = i.operands if i.base in EXITS else i.operands[1:]
    plain = [o for o in (i.guard, *operands) if isinstance(o, Register)]
    places = [part for o in i.operands if isinstance(o, Address) for part in (o.base, o.uniform) if part]
    return _words(plain, _width(i)) | _words(places, 2)


def _width(i: Instruction) -> int:
    """Registers of an operand."""
    return max((WIDE.get(part, 1) for part in i.modifiers), default=1) if i.base[0] != "D" else 2


def _words(registers: Sequence[Register], width: int) -> set[Word]:
    return {(r.file, r.index + n) for r in registers if r.index >= 0 for n in range(width if "R" in r.file else 1)}
