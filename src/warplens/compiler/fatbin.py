"""Fat binaries: cubins for each architecture, and PTX, in files that nvcc wrote.

A fatbin is a file of its own (`nvcc -fatbin`) or within an object, a program or a library, whatever the system; a file
has one for each source.  It is found by its first bytes.  Layout, as nvcc 13.0 writes it, numbers little-endian:

    fatbin   magic (8 bytes), size of what follows (8), entries
    entry    kind (2): 1 PTX, 2 a cubin;  version (2), size of this head (4), size of the code (8), of its compressed
             bytes (4);  at 28 the architecture (4), at 40 flags (8), at 56 the size of the code before compression (8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warplens.compiler import lz4, system_codecs, zstd
from warplens.core.cubin import chip_number
from warplens.errors import CubinError

MAGIC = b"\x50\xed\x55\xba\x01\x00\x10\x00"
HEAD = 16  # bytes of a fatbin before its entries
LEAST = 48  # bytes that an entry's head must have
PTX, CUBIN = 1, 2
LZ4, ZSTD = 0x2000, 0x8000  # flags of compressed entries


@dataclass(frozen=True, slots=True)
class FatbinEntry:
    """Fatbin entry: one piece of code; `size` bytes where it is compressed, by LZ4 or ZSTD (flags)."""

    kind: int
    arch: str
    flags: int
    size: int
    stored: bytes

    @property
    def code(self) -> bytes:
        """Decompressed.  CubinError for damaged code."""
        if self.flags & ZSTD:
            return system_codecs.zstd(self.stored, self.size) or zstd.decompress(self.stored)
        if self.flags & LZ4:
            return system_codecs.lz4(self.stored, self.size) or lz4.decompress(self.stored, self.size)
        return self.stored


def fitting_entry(data: bytes, arch: str) -> FatbinEntry | None:
    """The entry that a driver takes for an architecture, in a fatbin: the newest cubin of the same generation, else the
    newest PTX; None if the GPU can run none.  CubinError for a damaged fatbin."""
    chip = chip_number(arch)
    older = [entry for entry in _entries(data, 0) if chip_number(entry.arch) <= chip]
    cubins = [entry for entry in older if entry.kind == CUBIN and chip_number(entry.arch) // 10 == chip // 10]
    choice = cubins or [entry for entry in older if entry.kind == PTX]
    return max(choice, key=lambda entry: chip_number(entry.arch), default=None)


def is_fatbin(data: bytes) -> bool:
    return data.startswith(MAGIC)


def extract_cubins(data: bytes) -> dict[str, list[bytes]]:
    """By architecture, in the order of the file; {} where it holds no fatbin.

    CubinError for fatbins without a cubin, and for damaged ones.
    """
    found: dict[str, list[bytes]] = {}
    entries = [entry for place in re.finditer(re.escape(MAGIC), data) for entry in _entries(data, place.start())]
    for entry in entries:
        if entry.kind == CUBIN:
            found.setdefault(entry.arch, []).append(entry.code)
    if entries and not found:
        raise CubinError(
            "it holds PTX alone and no cubin; take that out with `cuobjdump -xptx all`, or build with "
            "`nvcc -arch=sm_90`"
        )
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
        flags = number(at + 40, 8)
        stored = data[code : code + (number(at + 16, 4) if flags & (LZ4 | ZSTD) else size)]
        yield FatbinEntry(number(at, 2), f"sm_{number(at + 28, 4)}", flags, number(at + 56, 8), stored)
        at = code + size
