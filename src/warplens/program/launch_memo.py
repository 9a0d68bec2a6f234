"""Launch memo: a launch whose inputs are what they were is not executed again; its results are copied.

A kernel is a function of what it reads.  What it touches is known after it has run, so the second launch with the same
parameters is executed too, with digests of these blocks before and copies after; the third finds them.

Where that is much memory, it is not hashed before a sample of it has been seen twice: most launches on much memory
move its state on, and hashing takes as long as executing them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.program.arena import ALLOCATED, VARIABLES, Arena

Key = tuple[object, ...]
Digests = dict[int, bytes]
MOST_KEPT = 1 << 27  # bytes of copies
MOST_KEYS = 1 << 16  # launches with other parameters, some 500 bytes each
LARGE = 1 << 22  # bytes to hash, from which on a sample is taken first: a hundredth of a second
SAMPLES, SAMPLE_BYTES = 256, 64  # of each block: evenly spread pieces
MOST_SAMPLES = 64  # launches of a key with other samples, until it is taken for one whose state moves on
PATIENCE = 6  # launches of a key without a repeat, until it is taken for one whose state moves on


@dataclass(frozen=True)
class Touched:
    """Touched blocks, by address: those whose content the launch used, and those that it changed."""

    read: frozenset[int]
    written: frozenset[int]

    @property
    def all(self) -> frozenset[int]:
        return self.read | self.written

    @property
    def idempotent(self) -> bool:
        """Whether it would do the same at once again."""
        return not self.read & self.written


@dataclass(frozen=True)
class Remembered:
    """Remembered launch: digests of what it touches, before; what it wrote; `number` in the log."""

    before: Digests
    after: dict[int, tuple[bytes, NDArray[np.uint8]]]
    touched: Touched
    number: int

    @property
    def size(self) -> int:
        return sum(content.size for _, content in self.after.values())


class LaunchMemo:
    """Launch memo: launches by kernel, shape and parameters; `on`: False remembers none."""

    def __init__(self, arena: Arena, on: bool = True) -> None:
        self.arena, self.on = arena, on
        self._digests: Digests = {}  # of blocks that have not changed since
        self._touched: dict[Key, Touched] = {}
        self._kept: dict[Key, list[Remembered]] = {}
        self._missed: dict[Key, int] = {}
        self._samples: dict[Key, set[bytes]] = {}
        self._size = 0

    def changed(self, block: int) -> None:
        """The content of a block has changed, or the block has gone."""
        self._digests.pop(block, None)

    def filled(self, block: int, size: int, value: int, element: int) -> None:
        """A block has one value throughout: that is known without hashing it; what lies behind its end is kept."""
        if self.arena.sizes[block] == size:
            behind = self.arena.blocks[block].data[size:].tobytes()
            self._digests[block] = f"{size} {value:x} {element} ".encode() + behind

    def may_remember(self, touched: Touched) -> bool:
        """Memory that the host may write without a call is left out."""
        return self.on and all(self.arena.kinds.get(block) in (ALLOCATED, VARIABLES) for block in touched.all)

    def before(self, key: Key) -> Digests | None:
        """Digests of what a launch with this key touches; None if that is not known, or not worth it."""
        touched = self._touched.get(key)
        if touched is None or self._missed.get(key, 0) > PATIENCE or not self.may_remember(touched):
            return None
        if self._written_bytes(touched) > MOST_KEPT // 2:  # learn() would not keep it
            return None
        unknown = [block for block in sorted(touched.all) if block not in self._digests]
        if sum(self.arena.blocks[block].size for block in unknown) > LARGE and self._is_new(key, unknown):
            return None
        return {block: self._digest(block) for block in touched.all}

    def _is_new(self, key: Key, blocks: Iterable[int]) -> bool:
        """Whether no launch with this key has begun with a sample like that of these blocks."""
        seen = self._samples.setdefault(key, set())
        if len(seen) >= MOST_SAMPLES:
            return True
        digest = hashlib.blake2b(digest_size=16)
        for block in blocks:
            data = self.arena.blocks[block].data
            step = max(data.size // SAMPLES, SAMPLE_BYTES)
            pieces = data[: data.size // step * step].reshape(-1, step)[:, :SAMPLE_BYTES]
            digest.update(np.ascontiguousarray(pieces).data)
        sample = digest.digest()
        new = sample not in seen
        seen.add(sample)
        return new

    def repeat(self, key: Key, before: Digests | None) -> Remembered | None:
        """Puts the results of an earlier launch in their places, if there is one that began like this."""
        if before is None:
            return None
        found = next((kept for kept in self._kept.get(key, ()) if kept.before == before), None)
        if found is None:
            self._missed[key] = self._missed.get(key, 0) + 1
            return None
        self._missed[key] = 0
        for block, (digest, content) in found.after.items():
            if self._digest(block) != digest:
                np.copyto(self.arena.blocks[block].data, content)
                self._digests[block] = digest
        return found

    def learn(self, key: Key, before: Digests | None, touched: Touched, number: int) -> None:
        """After a launch that was executed."""
        for block in touched.written:
            self.changed(block)
        if len(self._touched) >= MOST_KEYS:
            self._touched.clear()
            self._missed.clear()
            self._samples.clear()
        self._touched[key] = touched
        if before is None or not touched.all <= before.keys():
            return
        size = self._written_bytes(touched)
        after = {block: (self._digest(block), self.arena.blocks[block].data.copy()) for block in touched.written}
        self._kept.setdefault(key, []).append(Remembered(before, after, touched, number))
        self._size += size
        while self._size > MOST_KEPT:
            oldest = next(iter(self._kept))
            self._size -= sum(kept.size for kept in self._kept.pop(oldest))

    def _written_bytes(self, touched: Touched) -> int:
        return sum(self.arena.blocks[block].size for block in touched.written)

    def _digest(self, block: int) -> bytes:
        found = self._digests.get(block)
        if found is None:
            found = hashlib.blake2b(self.arena.blocks[block].data.data, digest_size=16).digest()
            self._digests[block] = found
        return found
