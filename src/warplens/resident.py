"""How much of a compiler stays in memory when it has done its work.  F2.

LLVM's code is 70 MB of this process once a kernel has been translated, more than Python, NumPy and the kernel together.
The system has it in its cache of files, so that it can go, and is there again in a millisecond when it is needed.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from pathlib import Path

MAPS = Path("/proc/self/maps")  # "7f01a000-7f02b000 r-xp 0001a000 08:01 1234   /path/of/the/library.so"


def release(library: str) -> None:
    """The code of a shared library leaves this process's memory until it runs again.  Elsewhere than on Linux nothing
    happens."""
    if sys.platform != "linux" or not MAPS.exists():
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for start, size in _code_of(library):
        madvise(start, size, mmap.MADV_DONTNEED)


def _code_of(library: str) -> Iterator[tuple[int, int]]:
    """Start and bytes of what is mapped from a file to be executed and not to be written: nobody has changed that."""
    for line in MAPS.read_text().splitlines():
        span, rights, *rest = line.split(maxsplit=5)
        if rights == "r-xp" and len(rest) == 4 and Path(rest[-1]).name.startswith(library):
            start, end = (int(part, 16) for part in span.split("-"))
            yield start, end - start
