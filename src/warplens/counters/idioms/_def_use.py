"""Def-use chains: which instruction made a value and which use it."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache, cached_property

from warplens.core.memory_opcodes import DEVICE_WIDE, opcodes
from warplens.core.program import (
    Address,
    Block,
    Constant,
    Immediate,
    Instruction,
    Label,
    Loop,
    Operand,
    Program,
    Register,
)
from warplens.isa.dsl.decode import bind, register_count

NameOf = Callable[[Constant], str | None]
Word = tuple[str, int]
GLOBAL = opcodes(DEVICE_WIDE, ("load", "store", "atomic", "reduction"))
TEMPORARY = frozenset({"R", "UR", "P", "UP"})


class DefUse:
    """A program with its definitions and uses.

    A guarded instruction adds a definition, it does not replace the ones before.  Calls are walked past:
    results of a called function are not seen.
    """

    def __init__(self, program: Program, name_of: NameOf) -> None:
        self.program = program
        self.name_of = name_of
        self.instructions = program.instructions
        effects = [effect(instruction) for instruction in program.instructions]
        self.reads = [frozenset(reads) for reads, _ in effects]
        self.writes = [frozenset(writes) for _, writes in effects]
        self.definers = cache(self._definers)

    @cached_property
    def block_of(self) -> list[Block]:
        return [block for block in self.program.blocks for _ in range(block.first, block.last + 1)]

    @cached_property
    def _before(self) -> dict[int, list[Block]]:
        found: dict[int, list[Block]] = {block.first: [] for block in self.program.blocks}
        for block in self.program.blocks:
            for successor in block.successors:
                found[successor].append(block)
        return found

    @cached_property
    def _writers(self) -> dict[tuple[int, Word], list[int]]:
        """(block, word) -> its writers there, ascending."""
        found: dict[tuple[int, Word], list[int]] = {}
        for index, words in enumerate(self.writes):
            for word in words:
                found.setdefault((self.block_of[index].first, word), []).append(index)
        return found

    def _definers(self, index: int, word: Word) -> frozenset[int]:
        """Instructions whose value of the word may reach this instruction."""
        found: set[int] = set()
        seen: set[int] = set()
        waiting = [(self.block_of[index], index)]
        while waiting:
            block, end = waiting.pop()
            if self._search(block, end, word, found):
                continue
            for previous in self._before[block.first]:
                if previous.first not in seen:
                    seen.add(previous.first)
                    waiting.append((previous, previous.last + 1))
        return frozenset(found)

    def _search(self, block: Block, end: int, word: Word, found: set[int]) -> bool:
        """Adds the definitions in the block before `end`; whether one of them is certain."""
        writers = self._writers.get((block.first, word), [])
        for writer in reversed(writers[: bisect_left(writers, end)]):
            found.add(writer)
            if self.instructions[writer].guard is None:
                return True
        return False

    def sources(self, index: int) -> frozenset[int]:
        """Instructions whose values this one reads, its guard included."""
        return frozenset(d for word in self.reads[index] for d in self.definers(index, word))

    @cached_property
    def users(self) -> list[frozenset[int]]:
        """For each instruction those that read a value of it."""
        found: list[set[int]] = [set() for _ in self.instructions]
        for index in range(len(self.instructions)):
            for source in self.sources(index):
                found[source].add(index)
        return [frozenset(users) for users in found]

    def operand_sources(self, index: int, operand: Operand | None) -> frozenset[int]:
        """Definitions of the first word of a register operand."""
        if not isinstance(operand, Register) or operand.index < 0:
            return frozenset()
        return self.definers(index, (operand.file, operand.index))

    def guard_sources(self, index: int) -> frozenset[int]:
        return self.operand_sources(index, self.instructions[index].guard)

    def base_sources(self, index: int) -> frozenset[int]:
        """Definitions of the address registers of a memory instruction."""
        return frozenset(d for word in self.base_words(index) for d in self.definers(index, word))

    def base_words(self, index: int) -> tuple[Word, ...]:
        address = self.address(index)
        return () if address is None else tuple(_address_words(self.instructions[index], address))

    def address(self, index: int) -> Address | None:
        return next((o for o in self.instructions[index].operands if isinstance(o, Address)), None)

    def reach(self, start: Iterable[int], step: Callable[[int], Iterable[int]]) -> set[int]:
        """Everything that steps lead to, the start included."""
        seen = set(start)
        waiting = deque(seen)
        while waiting:
            for following in step(waiting.popleft()):
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return seen

    def body(self, loop: Loop) -> list[int]:
        """Instructions of a loop in code order."""
        return [i for block in self.program.blocks if block.first in loop.blocks for i in span(block)]

    def base(self, index: int) -> str:
        return self.instructions[index].base

    def named(self, *bases: str) -> list[int]:
        """Instructions of these base opcodes."""
        return [i.index for i in self.instructions if i.base in bases]


def span(block: Block) -> range:
    return range(block.first, block.last + 1)


def immediates(instruction: Instruction) -> list[int]:
    return [o.bits for o in instruction.operands if isinstance(o, Immediate)]


def label(instruction: Instruction) -> Label | None:
    return next((o for o in instruction.operands if isinstance(o, Label)), None)


def effect(instruction: Instruction) -> tuple[list[Word], list[Word]]:
    """The words that it reads, its guard first, and those that it writes, both in the order of its operands."""
    binding = bind(instruction)
    reads: list[Word] = []
    if instruction.guard is not None:
        reads += _run(instruction.guard, 1)
    if binding is None:
        writes: list[Word] = []
        for place, operand in enumerate(instruction.operands):
            plain = place == 0 and isinstance(operand, Register)
            (writes if plain else reads).extend(_operand_words(instruction, operand, 1))
        return reads, writes
    for source, read in binding.sources:
        reads += _operand_words(instruction, read, register_count(source.kind, instruction))
    written: list[Word] = []
    for kind, target in zip(binding.op.results, binding.targets, strict=True):
        written += _operand_words(instruction, target, register_count(kind, instruction))
    return reads, written


def _operand_words(instruction: Instruction, operand: Operand | None, words: int) -> list[Word]:
    if isinstance(operand, Register):
        return _run(operand, words)
    if isinstance(operand, Constant) and operand.index is not None:
        return _run(operand.index, 1)
    return _address_words(instruction, operand) if isinstance(operand, Address) else []


def _address_words(instruction: Instruction, address: Address) -> list[Word]:
    """sm_75 prints the pair of a global address as one register."""
    pair = address.wide or (instruction.base in GLOBAL and not address.unsigned)
    words = 2 if pair else 1
    return [w for r in (address.base, address.uniform) if r is not None for w in _run(r, words)]


def _run(register: Register, words: int) -> list[Word]:
    if register.index < 0 or register.file not in TEMPORARY:
        return []
    count = words if register.file in ("R", "UR") else 1
    return [(register.file, register.index + k) for k in range(count)]
