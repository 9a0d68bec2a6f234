"""Patterns of matrix loads and stores and of asynchronous copies: which rows, which elements, which lanes.

Every pattern was run on an H200 under Nsight Compute; test_matrix_patterns.py holds the executor against what was read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from helpers.access_patterns import ALL, ELEMENTS, LANES, REGULAR, SOME_LANES, Ints

ROWS = 256  # of 16 bytes
Launch = tuple[str, str, tuple[int, int], list[NDArray[np.generic]], int]

BY_ROW = {
    "row": LANES,
    "same": LANES * 0 + 5,
    "stride2": 2 * LANES,
    "stride3": 3 * LANES,
    "stride4": 4 * LANES,
    "stride5": 5 * LANES,
    "stride8": 8 * LANES,
    "stride9": 9 * LANES % ROWS,
    "stride16": 16 * LANES % ROWS,
    "stride17": 17 * LANES % ROWS,
    "pairs": LANES // 2,
    "fours": LANES // 4,
    "matrices": LANES // 8,
    "mod2": LANES % 2,
    "mod4": LANES % 4,
    "mod8": LANES % 8,
    "reverse": 31 - LANES,
    "swizzle": (LANES * 8) + (LANES % 8 ^ LANES // 4 % 2),
    "swizzled": LANES % 8 * 8 + (LANES % 8 ^ LANES // 8),
    "unswizzled": LANES % 8 * 8 + LANES // 8,
    "half_rows": LANES % 8 * 4 + LANES // 8,
    "two_strides": LANES % 16 * 2 + LANES // 16 * 8,
}


def rows() -> Iterator[tuple[str, Ints]]:
    """(name, row of each lane)."""
    for name, idx in BY_ROW.items():
        yield name, (idx % ROWS).astype(np.int32)
    rng = np.random.default_rng(25)
    for number in range(8):
        reach = (8, 16, 64, ROWS)[number % 4]
        yield f"random{number}", rng.integers(0, reach, 32).astype(np.int32)


def places() -> Iterator[tuple[str, Ints, Ints]]:
    """(name, element of each lane, 1 for each lane that takes part)."""
    for name, idx in REGULAR.items():
        yield name, idx.astype(np.int32), ALL
    for some, lanes in SOME_LANES.items():
        for name in ("row", "stride8", "mod8"):
            yield f"{name}_{some}", REGULAR[name].astype(np.int32), lanes.astype(np.int32)
    rng = np.random.default_rng(24)
    for number in range(12):
        reach = (8, 32, 128, ELEMENTS)[number % 4]
        on = ALL if number < 8 else (rng.random(32) < 0.6).astype(np.int32)
        yield f"random{number}", rng.integers(0, reach, 32).astype(np.int32), on


def launches() -> Iterator[Launch]:
    """(kernel, pattern, (grid, block), arguments, dynamic shared bytes) of every measured launch."""
    for kind in ("1", "2", "4", "1t", "4t"):
        for name, idx in rows():
            if kind in ("1t", "4t") and name.startswith("random"):
                continue
            yield f"ldsm_{kind}", name, (1, 32), [idx, np.zeros(128, np.int32)], 16 * ROWS
    for kind in ("1", "2", "4", "2t", "4t"):
        for name, idx in rows():
            if kind in ("2t", "4t") and name.startswith("random"):
                continue
            yield f"stsm_{kind}", name, (1, 32), [idx, np.zeros(4 * ROWS, np.int32)], 16 * ROWS
    for kind, size in (("4", 4), ("8", 8), ("16", 16), ("16_bypass", 16)):
        for name, idx, on in places():
            straight = LANES.astype(np.int32)
            if kind in ("4", "16") or (kind == "8" and on is ALL) or name.endswith("0"):
                yield copy(kind, size, f"to_{name}", idx, straight, on)
            if on is ALL and (kind in ("4", "16") or name.startswith("stride")):
                yield copy(kind, size, f"from_{name}", straight, idx, on)
            if name.startswith("random") and kind != "8":
                yield copy(kind, size, f"both_{name}", idx, (idx * 7 % ELEMENTS).astype(np.int32), on)
    for size in (4, 8, 16):
        straight = LANES.astype(np.int32)
        some = (LANES % 3 != 0).astype(np.int32)
        for name, bytes in (("none", 0 * LANES), ("all", 0 * LANES + size), ("some", LANES % (size + 1)),
                            ("half", LANES // 16 * size), ("even", LANES % 2 * size)):  # fmt: skip
            for on in (ALL, some):
                label, kind, kept = name if on is ALL else f"{name}_on_some", f"{size}_fill", bytes.astype(np.int32)
                yield copy(kind, size, label, straight, straight, on, kept)
                yield copy(kind, size, f"{label}_apart", straight * 8, straight * 9, on, kept)


def copy(kind: str, size: int, name: str, to: Ints, source: Ints, on: Ints, bytes: Ints | None = None) -> Launch:
    data = (np.arange(ELEMENTS * size) % 251).astype(np.uint8)
    whole = np.full(32, size, np.int32) if bytes is None else bytes
    out = np.zeros(ELEMENTS * size // 4, np.int32)
    return f"copy_{kind}", name, (1, 32), [to, source, on, whole, data, out], ELEMENTS * size
