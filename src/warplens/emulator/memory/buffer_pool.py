"""Buffer pool: host memory of earlier launches, kept for the next.

The first touch of fresh pages takes longer than copying into them.
"""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import Array, Structure, sizeof
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Record = TypeVar("Record", bound=Structure | Array[Any])
LINES = 128  # bytes that a host's cache fetches together (adjacent lines), at most
# Bytes that this process keeps between launches; as much as the last launch had, up to the larger number: a launch that
# adds 2^26 floats takes 105 ms with fresh pages and 75 with those of the one before.
KEPT, MOST_KEPT = 1 << 26, 1 << 28


def address(array: NDArray[Any]) -> int:
    """Host address of an array.  NumPy's `ctypes.data` makes two objects for it and takes five times as long."""
    start: int = array.__array_interface__["data"][0]
    return start


def aligned(size: int, alignment: int = 4096) -> Bytes:
    """Zeroed host bytes at an aligned address; untouched pages take no memory."""
    raw = np.zeros(size + alignment, np.uint8)
    start = -address(raw) % alignment
    return raw[start : start + size]


def in_own_cache_lines(kind: type[Record]) -> Record:
    """A new record in cache lines of its own: no false sharing between threads."""
    return cast(Record, kind.from_buffer(aligned(-(-sizeof(kind) // LINES) * LINES, LINES).data))


class BufferPool:
    """Free host buffers by size, most recent last."""

    def __init__(self) -> None:
        self._free: list[Bytes] = []
        self._lock = Lock()

    def take(self, size: int) -> Bytes:
        """`size` bytes at an aligned address, with any content."""
        with self._lock:
            fitting = [n for n, buffer in enumerate(self._free) if size <= buffer.size <= 2 * size]
            if fitting:
                return self._free.pop(fitting[-1])[:size]
        return aligned(size)

    def give(self, buffers: Iterable[Bytes]) -> None:
        """Returns the buffers of a launch to the pool, which keeps or drops them."""
        given = [buffer for buffer in buffers if buffer.size]
        most = min(max(KEPT, sum(buffer.size for buffer in given)), MOST_KEPT)
        with self._lock:
            self._free += given
            while sum(kept.size for kept in self._free) > most:
                self._free.pop(0)


BUFFER_POOL = BufferPool()
