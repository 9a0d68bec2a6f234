"""System codecs: liblz4 and libzstd of this machine, where it has them: 100 times as fast as lz4.py and zstd.py."""

from __future__ import annotations

import ctypes
from functools import cache

LARGEST = 1 << 30  # bytes; above, the size is taken for damaged


def lz4(data: bytes, size: int) -> bytes | None:
    """`size` bytes; None where the machine has no liblz4, or the data are damaged."""
    library = _library("liblz4.so.1")
    if library is None or size > LARGEST:
        return None
    made = ctypes.create_string_buffer(size)
    return made.raw if library.LZ4_decompress_safe(data, made, len(data), size) == size else None


def zstd(data: bytes, size: int) -> bytes | None:
    """`size` bytes; None where the machine has no libzstd, or the data are damaged."""
    library = _library("libzstd.so.1")
    if library is None or size > LARGEST:
        return None
    made = ctypes.create_string_buffer(size)
    decompress = library.ZSTD_decompress
    decompress.restype = ctypes.c_size_t
    found = decompress(made, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    return made.raw if found == size else None


@cache
def _library(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None
