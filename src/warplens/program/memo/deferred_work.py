"""Deferred work: launches, fills and copies whose results are known by name, and are made when somebody looks.

A launch that repeats an earlier one leaves what that one left.  Mostly nobody looks before the next repeats it, too, or
before the memory is overwritten; then nothing has to be done at all.  Until then memory stays as it was before the
first of the deferred work, which is done in order when its results are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.program.arena import Arena
from warplens.program.memo.content_names import ContentNames, name_of

MOST_PENDING = 256  # pieces of work, until those are dropped whose results nothing needs
MOST_KEPT = 150 << 20  # bytes of copies: with 142 MB of its own `warplens run` stays below 300


@dataclass(frozen=True)
class Deferred:
    """Deferred piece of work: `do` does it.

    read, written   blocks;  whole: nothing stays of what was in those that it writes
    """

    do: Callable[[], None]
    read: frozenset[int]
    written: frozenset[int]
    whole: bool = False


def live_work(blocks: set[int], pending: Sequence[Deferred]) -> list[Deferred]:
    """Dead work elimination: the work that the final contents of these blocks depend on.

    What this work writes besides has its final content as well, since memory then differs from what it was before.
    """
    while True:
        wanted, kept = set(blocks), []
        for work in reversed(pending):
            if work.written & wanted:
                kept.append(work)
                wanted = (wanted - work.written if work.whole else wanted) | work.read
        written = {block for work in kept for block in work.written}
        if written <= blocks:
            return kept[::-1]
        blocks = blocks | written


class DeferredWork:
    """Deferred work of one GPU; `names` are those of the contents that blocks have once it is done."""

    def __init__(self, arena: Arena, names: ContentNames) -> None:
        self.arena, self.names = arena, names
        self._pending: list[Deferred] = []
        self._in_memory: dict[int, bytes | None] = {}  # of stale blocks: names of what memory contains
        self._copies: dict[bytes, NDArray[np.uint8]] = {}  # of contents, by name
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._pending)

    def is_stale(self, block: int) -> bool:
        """Whether memory does not contain yet what the block is named after."""
        return block in self._in_memory

    def add(self, work: Deferred, after: dict[int, bytes]) -> None:
        """Work whose results have these names."""
        names = self.names
        for block, name in after.items():
            there = self._in_memory.pop(block) if block in self._in_memory else names.of(block)
            names.put(block, name)
            if there is None or names.known(there) != names.known(name):
                self._in_memory[block] = there
        if not self._in_memory:
            self._pending.clear()
            return
        self._pending.append(work)
        if len(self._pending) % MOST_PENDING == 0:
            self._pending = live_work({*self._in_memory}, self._pending)
            if len(self._pending) >= MOST_PENDING:
                self.finish()

    def copy(self, to: tuple[int, int], source: tuple[int, int], size: int) -> None:
        """A copy of `size` bytes.  to, source: blocks, and addresses in them"""
        arena, (block, at), (source_block, start) = self.arena, to, source
        before, source_name = self._name(block), self._name(source_block)
        places = (at - block, start - source_block, size)
        whole = places == (0, 0, arena.sizes[block])
        if whole and self.names.same_shape(block, source_block):
            name = source_name
        else:
            name = name_of(b"copy", source_name, before, repr(places).encode())

        def do() -> None:
            np.copyto(arena.view(at, size), arena.view(start, size))

        arena.unwritten.discard(block)
        self.add(Deferred(do, frozenset({source_block}), frozenset({block}), whole), {block: name})

    def fill(self, to: tuple[int, int], pitch: int, width: int, height: int, value: int, element: int) -> None:
        """A fill of `height` rows of `width` bytes by elements of so many bytes."""
        arena, (block, at) = self.arena, to
        whole = (at, width, height) == (block, arena.sizes[block], 1)
        if whole:
            name = self.names.of_fill(block, value, element)
        else:
            places = at - block, pitch, width, height, value, element
            name = name_of(b"fill", self._name(block), repr(places).encode())

        def do() -> None:
            row = np.full(width // element, value & ((1 << 8 * element) - 1), f"<u{element}").view(np.uint8)
            for y in range(height):
                arena.view(at + y * pitch, width)[:] = row

        arena.unwritten.discard(block)
        self.add(Deferred(do, frozenset(), frozenset({block}), whole), {block: name})

    def _name(self, block: int) -> bytes:
        return self.names.of(block) or self.names.make_unique(block)

    def before_read(self, block: int) -> None:
        if block in self._in_memory:
            self.finish()

    def before_write(self, block: int, whole: bool = False) -> None:
        """whole: nothing of its content stays"""
        if whole and self._in_memory.keys() <= {block}:
            self._forget()
        elif any(block in work.read or block in work.written for work in self._pending):
            self.finish()

    def finish(self) -> None:
        """Makes the content of all blocks what it is named after."""
        if not self._pending:
            return
        stale = {block: self.names.of(block) for block in self._in_memory}
        copies = {block: self._copies.get(name) for block, name in stale.items() if name is not None}
        if all(copies.get(block) is not None for block in stale):
            for block, copy in copies.items():
                np.copyto(self.arena.blocks[block].data, copy)  # type: ignore[arg-type]
        else:
            pending, self._pending = live_work({*self._in_memory}, self._pending), []
            for work in pending:
                work.do()
            self._keep(stale)
        self._forget()

    def _forget(self) -> None:
        self._pending = []
        self._in_memory.clear()

    def _keep(self, stale: dict[int, bytes | None]) -> None:
        """Copies of contents that were made for the second time."""
        if sum(self.arena.blocks[block].size for block in stale) > MOST_KEPT:
            return
        for block, name in stale.items():
            if name is not None and name not in self._copies:
                self._copies[name] = self.arena.blocks[block].data.copy()
                self._size += self._copies[name].size
        while self._size > MOST_KEPT:
            self._size -= self._copies.pop(next(iter(self._copies))).size
