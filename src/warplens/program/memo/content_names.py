"""Content names: names for what blocks of memory contain, so that equal names mean equal contents.

The content that a launch makes is named after the launch and what it began with, without looking at it: it is a
function of these.  What comes from the host is hashed.  A name whose content was hashed as well is replaced by the
digest, so that equal contents of different origin are found.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from warplens.program.arena import Arena

MOST_HASHED = 1 << 16  # names whose digest is kept, 200 bytes each
LARGE_FILL = 1 << 20  # bytes from which the program tells of a fill of a whole block (shim/repeat.c)
MOST_COMPARED = 1 << 24  # bytes of copies of what was hashed last
SAMPLES, SAMPLE_BYTES = 256, 64  # of each block: evenly spread pieces
NAME_BYTES = 16
MADE, BYTES, FILL = b"made ", b"bytes ", b"fill "  # what names begin with


def name_of(*parts: bytes) -> bytes:
    """A name made of others."""
    digest = blake2b(digest_size=NAME_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(4, "little") + part)
    return MADE + digest.digest()


def _of_bytes(content: bytes | memoryview) -> bytes:
    return BYTES + blake2b(content, digest_size=NAME_BYTES).digest()


class ContentNames:
    """Content names: of the blocks of an arena, by address."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self._names: dict[int, bytes] = {}
        self._digests: dict[bytes, bytes] = {}  # by name
        self._last: dict[int, tuple[NDArray[np.uint8], bytes]] = {}  # bytes that were hashed last, by block
        self._unique = 0

    def of(self, block: int) -> bytes | None:
        """The name of what a block contains; None if it has none."""
        name = self._names.get(block)
        return None if name is None else self.known(name)

    def known(self, name: bytes) -> bytes:
        """The digest where the content of this name was hashed, else the name."""
        return self._digests.get(name, name)

    def by_bytes(self, block: int) -> bool:
        """Whether the name is that of the bytes, so that hashing them finds nothing new."""
        return (self.of(block) or b"").startswith((FILL, BYTES))

    def changed(self, block: int) -> None:
        """The content of a block has changed, or the block has gone."""
        self._names.pop(block, None)

    def put(self, block: int, name: bytes) -> None:
        self._names[block] = name

    def make_unique(self, block: int) -> bytes:
        """Names a content by a name that no other has."""
        self._unique += 1
        name = name_of(b"unique", self._unique.to_bytes(8, "little"))
        self.put(block, name)
        return name

    def duplicate(self, block: int, source: int) -> None:
        """A block has been copied from another one, as a whole."""
        if (name := self._names.get(source)) is not None and self.same_shape(block, source):
            self._names[block] = name

    def same_shape(self, block: int, other: int) -> bool:
        """Whether blocks have the same size and slack: their contents have the same name if their bytes are equal."""
        return self.arena.sizes[block] == self.arena.sizes[other] and self.slack(block) == self.slack(other)

    def of_fill(self, block: int, value: int, element: int) -> bytes:
        """The name of one value throughout, without hashing it where it is large; the slack is
        kept."""
        size, slack = self.arena.sizes[block], self.slack(block)
        if size >= LARGE_FILL:
            return b"%s%d %x %d " % (FILL, size, value, element) + slack
        content = (value & ((1 << 8 * element) - 1)).to_bytes(element, "little") * (size // element)
        return _of_bytes(content + slack)

    def slack(self, block: int) -> bytes:
        """The bytes of a block behind its end, up to the unit in which memory is allocated."""
        return self.arena.blocks[block].data[self.arena.sizes[block] :].tobytes()

    def hash(self, block: int) -> bytes:
        """Names a content by its bytes."""
        digest = self._digest(block)
        if (name := self._names.get(block)) is None:
            self._names[block] = digest
        else:
            while len(self._digests) >= MOST_HASHED:
                del self._digests[next(iter(self._digests))]
            self._digests[name] = digest
        return digest

    def _digest(self, block: int) -> bytes:
        """Of a block's bytes; programs mostly copy to it what they copied to it before: comparing is much faster."""
        data = self.arena.blocks[block].data
        last, digest = self._last.get(block, (None, b""))
        if last is None or not np.array_equal(data, last):
            digest = _of_bytes(data.data)
            self._last.pop(block, None)
            if data.size <= MOST_COMPARED:
                self._last[block] = data.copy(), digest
            while sum(copy.size for copy, _ in self._last.values()) > MOST_COMPARED:
                del self._last[next(iter(self._last))]
        return digest

    def sample(self, blocks: Iterable[int]) -> bytes:
        """A digest of pieces of blocks: what differs in it differs."""
        digest = blake2b(digest_size=NAME_BYTES)
        for block in blocks:
            data = self.arena.blocks[block].data
            step = max(data.size // SAMPLES, SAMPLE_BYTES)
            pieces = data[: data.size // step * step].reshape(-1, step)[:, :SAMPLE_BYTES]
            digest.update(np.ascontiguousarray(pieces).data)
        return digest.digest()
