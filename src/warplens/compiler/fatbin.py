"""Fat binaries: cubins for each architecture, and PTX, in files that nvcc wrote.

A fatbin is a file of its own (`nvcc -fatbin`) or within an object, a program or a library, whatever the system; a file
has one for each source.  It is found by its first bytes.  Layout, as nvcc 13.0 writes it, numbers little-endian:

    fatbin   magic (8 bytes), size of what follows (8), entries
    entry    kind (2): 1 PTX, 2 a cubin;  version (2), size of this head (4), size of the code (8);
             at 28 the architecture (4), at 40 flags (8): COMPRESSED
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warplens.errors import CubinError

MAGIC = b"\x50\xed\x55\xba\x01\x00\x10\x00"
HEAD = 16  # bytes of a fatbin before its entries
LEAST = 48  # bytes that an entry's head must have
CUBIN = 2
COMPRESSED = 0x2000 | 0x8000  # as LZ4, as Zstandard


@dataclass(frozen=True, slots=True)
class FatbinEntry:
    kind: int
    arch: str
    compressed: bool
    code: bytes


def extract_cubins(data: bytes) -> dict[str, list[bytes]]:
    """By architecture, in the order of the file; {} where it holds no fatbin.

    CubinError for fatbins without a cubin that can be read, and for damaged ones.
    """
    found: dict[str, list[bytes]] = {}
    entries = [entry for place in re.finditer(re.escape(MAGIC), data) for entry in _entries(data, place.start())]
    for entry in entries:
        if entry.kind == CUBIN and not entry.compressed:
            found.setdefault(entry.arch, []).append(entry.code)
    if entries and not found:
        raise CubinError(_unreadable(entries))
    return found


def _entries(data: bytes, start: int) -> Iterator[FatbinEntry]:
    def number(at: int, size: int) -> int:
        return int.from_bytes(data[at : at + size], "little")

    at = start + HEAD
    end = at + number(start + 8, 8)
    if end > len(data):
        raise CubinError("the fatbin is cut short")
    while at < end:
        head, size = number(at + 4, 4), number(at + 8, 8)
        code = at + head
        if head < LEAST or code + size > end:
            raise CubinError("the fatbin is damaged")
        compressed = bool(number(at + 40, 8) & COMPRESSED)
        yield FatbinEntry(number(at, 2), f"sm_{number(at + 28, 4)}", compressed, data[code : code + size])
        at = code + size


def _unreadable(entries: list[FatbinEntry]) -> str:
    packed = sorted({entry.arch for entry in entries if entry.kind == CUBIN})
    if packed:
        return (
            f"its code for {', '.join(packed)} is compressed; build it with `nvcc --compress-mode=none`, or take a "
            "cubin out of it with `cuobjdump -xelf all`"
        )
    return "it holds PTX alone and no cubin; take that out with `cuobjdump -xptx all`, or build with `nvcc -arch=sm_90`"
