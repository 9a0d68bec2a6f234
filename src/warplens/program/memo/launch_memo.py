"""Launch memo: a launch whose inputs are what they were is not executed again.

A kernel is a function of what it reads.  What it touches is known after it has run; a launch with the same kernel,
shape and parameters, where that memory has the contents of then, leaves what the first one left
(content_names.py), and is deferred until somebody looks at it (deferred_work.py).

Contents without a name of their own are hashed.  Where that is much memory, it is not before a sample of it has been
seen twice: most launches on much memory move its state on, and hashing takes as long as executing them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from warplens.program.arena import ALLOCATED, VARIABLES, Arena
from warplens.program.memo.content_names import ContentNames, name_of
from warplens.program.memo.deferred_work import Deferred, DeferredWork

Key = tuple[object, bytes]  # kernel and shape; parameters
Names = dict[int, bytes]
T = TypeVar("T")
MOST_LAUNCHES = 1 << 15  # that are remembered, some 500 bytes each
MOST_KEYS = 1 << 16  # launches with other parameters, some 500 bytes each
LARGE = 1 << 22  # bytes to hash, from which on a sample is taken first: a hundredth of a second
MOST_SAMPLES = 64  # launches of a key with other samples, until it is taken for one whose state moves on
PATIENCE = 6  # hashings for a key without a repeat, until it is taken for one whose state moves on


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
    """Remembered launch: names of what it wrote; `number` in the log."""

    after: Names
    touched: Touched
    number: int


class LaunchMemo:
    """Launch memo: launches by kernel, shape and parameters; `on`: False remembers none."""

    def __init__(self, arena: Arena, on: bool = True) -> None:
        self.arena, self.on = arena, on
        self.names = ContentNames(arena)
        self.deferred = DeferredWork(arena, self.names)
        self._touched: dict[Key, Touched] = {}
        self._numbers: dict[Key, int] = {}
        self._keys = 0
        self._kept: dict[bytes, Remembered] = {}  # by what they begin with
        self._inputs: dict[bytes, None] = {}  # what launches began with that write nothing of what they read
        self._fruitless: dict[Key, list[int]] = {}  # hashings since the last repeat: of what is new, of results
        self._samples: dict[Key, set[bytes]] = {}

    def may_remember(self, touched: Touched) -> bool:
        """Memory that the host may write without a call is left out."""
        return self.on and all(self.arena.kinds.get(block) in (ALLOCATED, VARIABLES) for block in touched.all)

    def find(self, key: Key) -> tuple[Remembered | None, Names]:
        """An earlier launch that began like this one; names of what one with this key touches."""
        touched = self._touched.get(key)
        if touched is None:
            self._name_arguments(key)
        if touched is None or not self.may_remember(touched):
            return None, {}
        known = {block: name for block in touched.all if (name := self.names.of(block)) is not None}
        found = self._kept.get(self._state(key, known)) if len(known) == len(touched.all) else None
        if found is None:
            names = self._named(key, touched)
            found = self._kept.get(self._state(key, names)) if names != known else None
            known = names
        if found is not None:
            self._fruitless.pop(key, None)
        return found, known

    def repeat(self, found: Remembered, execute: Callable[[], None]) -> None:
        """A launch leaves what an earlier one left; `execute` it if that is looked at."""
        self.deferred.add(Deferred(execute, found.touched.read, found.touched.written), found.after)

    def learn(self, key: Key, before: Names, touched: Touched, number: int, pure: bool) -> None:
        """After a launch that was executed.

        pure   it is a function of the memory that it touches.  One that writes behind the end of a block is not taken
               for one: that memory has no names
        """
        if len(self._touched) >= MOST_KEYS:
            for kept in (self._touched, self._numbers, self._fruitless, self._samples):
                kept.clear()
        self._touched[key] = touched
        if not pure or any(map(any, map(self.names.slack, touched.written))):
            for block in touched.written:
                self.names.changed(block)
            return
        began = {block: before.get(block) or self.names.of(block) for block in touched.all}
        if unnamed := [block for block in touched.read - touched.written if began[block] is None]:
            large = self._are_large(unnamed)
            for block in unnamed:
                began[block] = self.names.make_unique(block) if large else self.names.hash(block)
        names = {block: name or self.names.make_unique(block) for block, name in began.items()}
        state = self._state(key, names)
        after = {block: name_of(b"launch", state, block.to_bytes(8, "little")) for block in touched.written}
        for block, name in after.items():
            self.names.put(block, name)
        done = Remembered(after, touched, number)
        _keep(self._kept, state, done)
        if touched.idempotent:
            _keep(self._kept, self._state(key, names | after), done)
            inputs = self._state(key, {block: names[block] for block in touched.read})
            if inputs in self._inputs:  # over other results than those of then: they may be the same now
                for block in touched.written:
                    self.names.hash(block)
            _keep(self._inputs, inputs, None)

    def _name_arguments(self, key: Key) -> None:
        """Before the first launch with a key: names for what its parameters point to, which it may write."""
        _, parameters = key
        words = np.frombuffer(parameters, np.uint64, len(parameters) // 8).tolist()
        unnamed = [block for block in {*words} & self.arena.kinds.keys() if self.names.of(block) is None]
        if not self._are_large(unnamed):
            for block in unnamed:
                self.names.hash(block)

    def _state(self, key: Key, names: Names) -> bytes:
        """A name for a launch with what it begins with."""
        number = self._numbers.get(key)
        if number is None:
            self._keys += 1
            number = self._numbers[key] = self._keys
        parts = (block.to_bytes(8, "little") + name for block, name in sorted(names.items()))
        return name_of(number.to_bytes(8, "little"), *parts)

    def _named(self, key: Key, touched: Touched) -> Names:
        """Names of all that is touched, hashed where it is worth it."""
        names, blocks = self.names, sorted(touched.all)
        unhashed = [block for block in blocks if not (self.deferred.is_stale(block) or names.by_bytes(block))]
        new = [block for block in unhashed if names.of(block) is None]
        tried = self._fruitless.setdefault(key, [0, 0])
        for kind, chosen in enumerate((new, [block for block in unhashed if block not in new])):
            if chosen and tried[kind] <= PATIENCE and not self._is_new(key, chosen):
                tried[kind] += 1
                for block in chosen:
                    names.hash(block)
        return {block: names.of(block) or names.make_unique(block) for block in blocks}

    def _are_large(self, blocks: Iterable[int]) -> bool:
        return sum(self.arena.blocks[block].size for block in blocks) > LARGE

    def _is_new(self, key: Key, blocks: Iterable[int]) -> bool:
        """Whether blocks are large, and no launch with this key has begun with a sample like that of them."""
        if not self._are_large(blocks):
            return False
        seen = self._samples.setdefault(key, set())
        if len(seen) >= MOST_SAMPLES:
            return True
        sample = self.names.sample(blocks)
        new = sample not in seen
        seen.add(sample)
        return new


def _keep(kept: dict[bytes, T], state: bytes, value: T) -> None:
    """Keeps a value; the oldest goes."""
    if len(kept) >= MOST_LAUNCHES:
        del kept[next(iter(kept))]
    kept[state] = value
