"""Memory of earlier launches, kept for the next: to touch fresh pages takes longer than to copy into them."""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import Array, Structure, sizeof
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from warplens.system import memory_advice

Bytes = NDArray[np.uint8]
Record = TypeVar("Record", bound=Structure | Array[Any])
LINES = 128  # bytes that a host's cache fetches together, at most
# Bytes that this process keeps between launches; as much as the last launch had, up to the larger number: a launch that
# adds 2^26 floats takes 105 ms with fresh pages and 75 with those of the one before.
KEPT, MOST_KEPT = 1 << 26, 1 << 28


def address(array: NDArray[Any]) -> int:
    """Where the host has an array.  NumPy's `ctypes.data` makes two objects for it and takes five times as long."""
    start: int = array.__array_interface__["data"][0]
    return start


def aligned(size: int, alignment: int = 4096) -> Bytes:
    """Zeroed host bytes at an aligned address; untouched pages take no memory."""
    raw = np.zeros(size + alignment, np.uint8)
    start = -address(raw) % alignment
    return raw[start : start + size]


def alone(kind: type[Record]) -> Record:
    """A new record in lines of the host's caches in which nothing else is: a thread would wait for what another one
    writes beside it."""
    return cast(Record, kind.from_buffer(aligned(-(-sizeof(kind) // LINES) * LINES, LINES).data))


class BufferPool:
    """Pieces that nobody uses, the latest last."""

    def __init__(self) -> None:
        self._pieces: list[Bytes] = []
        self._lock = Lock()

    def take(self, size: int) -> Bytes:
        """`size` bytes at an aligned address; nobody knows what they hold."""
        with self._lock:
            fitting = [n for n, piece in enumerate(self._pieces) if size <= piece.size <= 2 * size]
            if fitting:
                return self._pieces.pop(fitting[-1])[:size]
        return aligned(size)

    def give(self, pieces: Iterable[Bytes]) -> None:
        """Back from a launch, to be kept or forgotten: the system may have them if it needs memory."""
        given = [piece for piece in pieces if piece.size]
        for piece in given:
            memory_advice.lend(address(piece), piece.size)
        most = min(max(KEPT, sum(piece.size for piece in given)), MOST_KEPT)
        with self._lock:
            self._pieces += given
            while sum(kept.size for kept in self._pieces) > most:
                self._pieces.pop(0)


SPARE = BufferPool()
