"""Code diff: two versions of a kernel's machine code beside each other, aligned by basic block.

Blocks with the same opcodes belong together, those between them in order; within a pair instructions are aligned by
what they do, whatever registers hold it and wherever branches lead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from warplens.core.cubin import SourceLine
from warplens.regression.normal_form import NormalForm, NormalInstruction

Sign = Literal["=", "-", "+"]
Block = tuple[NormalInstruction, ...]
_PLACE = re.compile(r"block \d+\+\d+")


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One instruction: in both, only in the old one, or only in the new one."""

    sign: Sign
    text: str
    source: SourceLine | None


@dataclass(frozen=True)
class BlockDiff:
    """A pair of basic blocks, by number; None where one version has no such block."""

    old: int | None
    new: int | None
    lines: tuple[CodeLine, ...]

    @property
    def changed(self) -> bool:
        return any(line.sign != "=" for line in self.lines)


@dataclass(frozen=True, slots=True)
class OpcodeChange:
    """How often an opcode stands in the code."""

    opcode: str
    old: int
    new: int


@dataclass(frozen=True)
class CodeDiff:
    """The difference of two versions; empty where only scheduling (stall cycles, scoreboards) differs."""

    blocks: tuple[BlockDiff, ...]
    opcodes: tuple[OpcodeChange, ...]
    instructions: tuple[int, int]


def code_diff(old: NormalForm, new: NormalForm) -> CodeDiff:
    blocks = tuple(
        BlockDiff(one, other, tuple(_lines(_block(old, one), _block(new, other))))
        for one, other in _aligned([_opcodes(b) for b in old.blocks], [_opcodes(b) for b in new.blocks])
    )
    counts = [Counter(word for block in form.blocks for word in _opcodes(block)) for form in (old, new)]
    changes = [
        OpcodeChange(opcode, counts[0][opcode], counts[1][opcode])
        for opcode in counts[0] | counts[1] if counts[0][opcode] != counts[1][opcode]
    ]  # fmt: skip
    changes.sort(key=lambda change: (-abs(change.new - change.old), change.opcode))
    return CodeDiff(blocks, tuple(changes), (counts[0].total(), counts[1].total()))


def _block(form: NormalForm, number: int | None) -> Block:
    return () if number is None else form.blocks[number]


def _opcodes(block: Block) -> tuple[str, ...]:
    return tuple(instruction.opcode for instruction in block)


def _aligned(old: Sequence[object], new: Sequence[object]) -> Iterator[tuple[int | None, int | None]]:
    """Numbers of what belongs together, in order; between two matches the k-th belongs to the k-th."""
    for _, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield from zip_longest(range(a, b), range(c, d))


def _lines(old: Block, new: Block) -> Iterator[CodeLine]:
    matcher = SequenceMatcher(None, [_shape(i) for i in old], [_shape(i) for i in new], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            yield from (CodeLine("=", i.shown, i.source) for i in new[c:d])
        else:
            yield from (CodeLine("-", i.shown, i.source) for i in old[a:b])
            yield from (CodeLine("+", i.shown, i.source) for i in new[c:d])


def _shape(instruction: NormalInstruction) -> str:
    """What it does, without the numbers of values and of blocks."""
    return _PLACE.sub("block", instruction.text.partition(" | ")[0])
