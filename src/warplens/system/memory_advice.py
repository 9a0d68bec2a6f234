"""Memory advice: releases unused pages of shared libraries, and keeps sparse arrays in small pages (madvise).

LLVM's code is 70 MB of this process once a kernel has been translated, more than Python, NumPy and the kernel together.
The system has it in its cache of files, so that it can go, and is there again in a millisecond when it is needed.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

MAPS = Path("/proc/self/maps")  # "7f01a000-7f02b000 r-xp 0001a000 08:01 1234   /path/of/the/library.so"


def release(library: str) -> None:
    """The code of a shared library leaves this process's memory until it runs again; on Linux only."""
    if sys.platform != "linux" or not MAPS.exists():
        return
    for start, size in _code_of(library):
        _madvise()(start, size, mmap.MADV_DONTNEED)


def in_small_pages(start: int, size: int) -> None:
    """Of these bytes only what is written takes memory, not the two million around it."""
    first, last = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE, (start + size) // mmap.PAGESIZE * mmap.PAGESIZE
    if sys.platform == "linux" and first < last:
        _madvise()(first, last - first, mmap.MADV_NOHUGEPAGE)


@cache
def _madvise() -> Any:
    found = ctypes.CDLL(None).madvise
    found.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return found


def _code_of(library: str) -> Iterator[tuple[int, int]]:
    """Start and bytes of what is mapped from a file to be executed and not to be written: nobody has changed that."""
    for line in MAPS.read_text().splitlines():
        span, rights, *rest = line.split(maxsplit=5)
        if rights == "r-xp" and len(rest) == 4 and Path(rest[-1]).name.startswith(library):
            start, end = (int(part, 16) for part in span.split("-"))
            yield start, end - start
