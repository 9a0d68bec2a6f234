"""Live registers: how many general registers hold a value that is still needed, at each instruction."""

from __future__ import annotations

from collections.abc import Iterable

from warplens.core.program import Block
from warplens.counters.idioms import DefUse

GENERAL = "R"


def live_registers(flow: DefUse) -> list[int]:
    """Of each instruction: the registers that it writes, and those that it or a later one reads.

    The usual backward dataflow over the basic blocks, with a bit a register; a guarded write leaves the old value live.
    """
    reads = [_bits(index for file, index in words if file == GENERAL) for words in flow.reads]
    writes = [_bits(index for file, index in words if file == GENERAL) for words in flow.writes]
    kills = [
        0 if instruction.guard else written
        for instruction, written in zip(flow.program.instructions, writes, strict=True)
    ]
    entry = _live_on_entry(flow.program.blocks, reads, kills)
    found = [0] * len(reads)
    for block in flow.program.blocks:
        live = _after(block, entry)
        for index in range(block.last, block.first - 1, -1):
            before = live & ~kills[index] | reads[index]
            found[index] = (before | writes[index] | live).bit_count()
            live = before
    return found


def _live_on_entry(blocks: Iterable[Block], reads: list[int], kills: list[int]) -> dict[int, int]:
    """Registers that are live where each block begins, by its first instruction."""
    backward = sorted(blocks, key=lambda block: -block.first)
    entry = {block.first: 0 for block in backward}
    changed = True
    while changed:
        changed = False
        for block in backward:
            live = _after(block, entry)
            for index in range(block.last, block.first - 1, -1):
                live = live & ~kills[index] | reads[index]
            changed = changed or live != entry[block.first]
            entry[block.first] = live
    return entry


def _after(block: Block, entry: dict[int, int]) -> int:
    live = 0
    for successor in block.successors:
        live |= entry.get(successor, 0)
    return live


def _bits(places: Iterable[int]) -> int:
    found = 0
    for place in places:
        if place >= 0:
            found |= 1 << place
    return found
