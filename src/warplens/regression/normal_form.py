"""Normal form of machine code: what stays the same where only names, comments or the choice of registers differ.

    registers        numbered by value: the definitions that reach one use are one value (def-use chains), values are
                     numbered as they first appear; a pair or quad is listed word by word
    branch targets   basic blocks, in code order
    constants        the compiler's literals by their content, addresses by a number as they first appear; parameters
                     and launch sizes (bank 0) stay at their place
    left out         source lines, names, padding
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from warplens.core.cubin import Kernel, SourceLine
from warplens.core.program import Address, Constant, Immediate, Instruction, Label, Operand, Program, Register
from warplens.counters.idioms import DefUse, Word, effect

VERSION = "1"  # of the form: goes up when the same machine code gets another digest
DIGEST_LETTERS = 32
PARAMETERS = 0  # the constant bank of parameters and launch sizes


@dataclass(frozen=True, slots=True)
class NormalInstruction:
    """An instruction in normal form.  text: without its scheduling;  control: stall cycles, scoreboards;  shown: as
    nvdisasm prints it."""

    opcode: str
    text: str
    control: str
    shown: str
    source: SourceLine | None


@dataclass(frozen=True)
class NormalForm:
    """The instructions of a kernel, by basic block.  text of a block does not depend on where it lies."""

    blocks: tuple[tuple[NormalInstruction, ...], ...]

    @property
    def digest(self) -> str:
        """Equal where the machine code is: instructions, operands, scheduling."""
        lines = [f"{i.text}\t{i.control}" for block in self.blocks for i in (*block, _END)]
        return hashlib.sha256("\n".join([VERSION, *lines]).encode()).hexdigest()[:DIGEST_LETTERS]


_END = NormalInstruction("", "--", "", "", None)


def normal_form(program: Program, kernel: Kernel) -> NormalForm:
    """The normal form of a kernel's machine code, padding left out."""
    return NormalForm(tuple(_Normalizer(program, kernel).blocks()))


class _Normalizer:
    def __init__(self, program: Program, kernel: Kernel) -> None:
        self.program, self.kernel = program, kernel
        self.flow = DefUse(program, lambda _: None)
        self.firsts = [block.first for block in program.blocks]
        self.values = _Values(self.flow)
        self.number: dict[object, int] = {}
        self.addresses: dict[tuple[int, int], int] = {}

    def blocks(self) -> Iterator[tuple[NormalInstruction, ...]]:
        end = len(self.program.body)
        for block in self.program.blocks:
            if block.first < end:
                chosen = self.program.instructions[block.first : min(block.last + 1, end)]
                yield tuple(self._instruction(instruction) for instruction in chosen)

    def _instruction(self, instruction: Instruction) -> NormalInstruction:
        reads, writes = effect(instruction)
        guard = ""
        if instruction.guard is not None:
            guard = f"@{_register(instruction.guard)} "
        operands = ", ".join(self._operand(instruction, operand) for operand in instruction.operands)
        read = " ".join(self._named(self.values.read(instruction.index, word)) for word in reads)
        written = " ".join(self._named(self.values.written(instruction.index, word)) for word in writes)
        code = instruction.control
        control = f"{code.stall} {code.yield_hint:d} {code.write_barrier} {code.read_barrier} {code.wait_mask}"
        shown = f"{_guard(instruction)}{instruction.opcode} {instruction.text}".rstrip()
        text = f"{guard}{instruction.opcode} {operands} | {read} -> {written}"
        return NormalInstruction(instruction.opcode, text, control, shown, instruction.source)

    def _named(self, value: object) -> str:
        return str(self.number.setdefault(value, len(self.number)))

    def _operand(self, instruction: Instruction, operand: Operand) -> str:
        match operand:
            case Register():
                return _register(operand)
            case Immediate():
                return f"{operand.bits}:{operand.real}" if operand.real else str(operand.bits)
            case Label():
                return self._place(operand.offset)
            case Constant():
                return self._constant(instruction, operand)
            case Address():
                parts = [p and _register(p) for p in (operand.base, operand.uniform)]
                return f"[{parts} {operand.offset} {operand.scale} {operand.wide:d} {operand.unsigned:d}]"
        return operand.name

    def _place(self, offset: int) -> str:
        """The block, and the instruction in it."""
        index = offset // 16
        block = bisect_right(self.firsts, index) - 1
        return f"block {block}+{index - self.firsts[block]}"

    def _constant(self, instruction: Instruction, operand: Constant) -> str:
        signs = f"{operand.negate:d}{operand.absolute:d}{operand.invert:d}{operand.part}"
        if operand.bank == PARAMETERS:
            place = str(operand.offset)
        else:
            size = 8 if instruction.base.startswith("D") or "64" in instruction.modifiers else 4
            held = self.kernel.constants.get(operand.bank, b"")[operand.offset : operand.offset + size]
            relocated = any(r.offset <= operand.offset < r.offset + 8 for r in self.kernel.relocations)
            known = held and not (operand.bank == 4 and relocated)
            key = (operand.bank, operand.offset)
            place = held.hex() if known else f"#{self.addresses.setdefault(key, len(self.addresses))}"
        return f"c{operand.bank}[{operand.index and _register(operand.index)} {place}]{signs}"


class _Values:
    """Which value a word of a register holds: definitions that reach a common use are one value (union-find)."""

    def __init__(self, flow: DefUse) -> None:
        self.flow = flow
        self.parent: dict[object, object] = {}
        for index, words in enumerate(flow.reads):
            for word in sorted(words):
                found = [(definer, word) for definer in sorted(flow.definers(index, word))]
                for other in found[1:]:
                    self._join(found[0], other)

    def _root(self, value: object) -> object:
        while (above := self.parent.get(value, value)) != value:
            self.parent[value] = self.parent.get(above, above)
            value = above
        return value

    def _join(self, one: object, other: object) -> None:
        first, second = self._root(one), self._root(other)
        if first != second:
            self.parent[second] = first

    def read(self, index: int, word: Word) -> object:
        """The value that an instruction reads; what nothing in the kernel wrote goes by its register."""
        found = self.flow.definers(index, word)
        return self._root((min(found), word)) if found else ("entry", word)

    def written(self, index: int, word: Word) -> object:
        return self._root((index, word))


def _register(register: Register) -> str:
    """The kind of register, whether it is the constant one, and what is done to it; its number is a value's."""
    constant = "Z" if register.index < 0 else ""
    number = str(register.index) if register.file in ("B", "SB") else ""
    signs = f"{'-' * register.negate}{'|' * register.absolute}{'~' * register.invert}"
    return f"{signs}{register.file}{constant}{number}{'.' * bool(register.part)}{register.part}"


def _guard(instruction: Instruction) -> str:
    guard = instruction.guard
    if guard is None:
        return ""
    return f"@{'!' * guard.invert}{guard.file}{guard.index if guard.index >= 0 else 'T'} "
