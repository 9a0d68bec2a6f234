"""Access patterns: forms of addresses that are known before the code runs, and their counts.

An access whose address is uniform, or affine over the warp (affine.py), needs no work by lane: one check for all, one
move of memory, counts that are known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from warplens.emulator.analysis.affine import AffineValue
from warplens.emulator.codegen.vector_types import LANES, is_vector
from warplens.isa.dsl.warp_interface import Space


@dataclass(frozen=True)
class AccessCounts:
    """Access counts: what one execution adds to the counter columns of its instruction."""

    requests: int = 1
    sectors: int = 0
    tags: int = 0
    wavefronts: int = 0
    ideal: int = 0
    bytes: int = 0

    def columns(self) -> tuple[int, ...]:
        """In the order of counter_layout.py, from REQUESTS on."""
        return (self.requests, self.sectors, self.tags, self.wavefronts, self.ideal, self.bytes)


@dataclass(frozen=True)
class Pattern:
    """row   32 lanes on consecutive places (of local memory: on the same place of each lane)
    same  32 lanes on one place
    tile  two rows of 16 lanes: each consecutive (step = bytes a lane) or on one place (step 0), `distance` bytes from
          another; distance is an int, or a number known only when it runs

    counts    in the usual case: first address a multiple of `aligned`, and rows of a tile far from another
    """

    kind: Literal["row", "same", "tile"]
    first: Any
    step: int
    distance: Any
    counts: AccessCounts
    aligned: int


def pattern_of(address: Any, tile: int, space: Space, size: int, stores: bool) -> Pattern | None:
    """The form of an access of `size` bytes a lane; None if it is not one of these."""
    if not isinstance(address, AffineValue):
        if is_vector(address):
            return None
        return _one_place(address, space, size, stores)
    base, x, y = address.parts
    if space == "local":
        return None
    in_rows = x == size and (tile == LANES or (isinstance(y, int) and y == tile * size))
    if in_rows or (tile == 1 and y == size):
        return Pattern("row", base, size, 0, _row_counts(space, size), _row_alignment(space, size))
    if tile == LANES // 2 and x in (0, size) and size >= 4 and not (stores and x == 0):
        return _tile(base, x, y, space, size, stores)
    return None


def _one_place(address: Any, space: Space, size: int, stores: bool) -> Pattern | None:
    if space == "local":
        counts = AccessCounts(sectors=size, tags=size // 4, ideal=size, bytes=LANES * size)
        return Pattern("row", address, 0, 0, counts, size) if size >= 4 else None
    if stores:
        return None
    if space == "shared":
        passes = 2 if size == 16 else 1
        return Pattern("same", address, 0, 0, AccessCounts(wavefronts=passes, ideal=passes, bytes=size), size)
    return Pattern("same", address, 0, 0, AccessCounts(sectors=1, tags=1, ideal=1, bytes=size), size)


def _row_alignment(space: Space, size: int) -> int:
    return size if space == "shared" else min(128, LANES * size)


def _row_counts(space: Space, size: int) -> AccessCounts:
    if space == "shared":
        passes = max(size // 4, 1)
        return AccessCounts(wavefronts=passes, ideal=passes, bytes=LANES * size)
    return AccessCounts(sectors=size, tags=max(size // 4, 1), ideal=size, bytes=LANES * size)


def _tile(base: Any, x: int, y: Any, space: Space, size: int, stores: bool) -> Pattern | None:
    half = LANES // 2
    if space == "shared":
        # Within one row of banks there is no conflict (sass.md 5.3); quarters of 16 bytes go two at a time.
        if stores or not isinstance(y, int) or not 0 <= y + (half - 1) * x < 128 or y % size:
            return None
        passes = 2 if size == 16 or (size == 8 and x) else 1
        different = len({row + lane * x for row in (0, y) for lane in range(half)})
        return Pattern("tile", base, x, y, AccessCounts(wavefronts=passes, ideal=passes, bytes=different * size), size)
    if isinstance(y, int) and y != 0 and abs(y) < max(128, half * size):
        return None
    if stores and isinstance(y, int) and y == 0:
        return None
    rows = 1 if isinstance(y, int) and y == 0 else 2
    lanes = half if x else 1
    span = half * size if x else 1
    sectors = rows * max(span // 32, 1)
    aligned = min(128, span) if x else size
    if isinstance(y, int) and y % aligned:
        return None
    counts = AccessCounts(
        sectors=sectors, tags=rows * max(span // 128, 1), ideal=min(sectors, size), bytes=rows * lanes * size
    )
    return Pattern("tile", base, x, y, counts, aligned)
