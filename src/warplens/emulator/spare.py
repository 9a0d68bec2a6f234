"""Memory of earlier launches, kept for the next: to touch fresh pages takes longer than to copy into them."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
KEPT = 1 << 26  # bytes that this process keeps between launches


def address(array: NDArray[Any]) -> int:
    """Where the host has an array.  NumPy's `ctypes.data` makes two objects for it and takes five times as long."""
    start: int = array.__array_interface__["data"][0]
    return start


def aligned(size: int, alignment: int = 4096) -> Bytes:
    """Zeroed host bytes at an aligned address; untouched pages take no memory."""
    raw = np.zeros(size + alignment, np.uint8)
    start = -address(raw) % alignment
    return raw[start : start + size]


class Spare:
    """Pieces that nobody uses, at most KEPT bytes of them, the latest last."""

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

    def give(self, piece: Bytes) -> None:
        """Back, to be kept or forgotten."""
        if not 0 < piece.size <= KEPT:
            return
        with self._lock:
            self._pieces.append(piece)
            while sum(kept.size for kept in self._pieces) > KEPT:
                self._pieces.pop(0)


SPARE = Spare()
