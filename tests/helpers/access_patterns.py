"""Access patterns: which elements the 32 lanes of one warp touch, and which lanes take part.

Every pattern was run on an H200 under Nsight Compute; test_patterns.py holds the executor against what was read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
LANES = np.arange(32)
ELEMENTS = 1024  # that an index may reach
ALL = np.ones(32, np.int32)

REGULAR = {
    "row": LANES,
    "same": LANES * 0 + 5,
    "halves": LANES // 16,
    "halves_far": LANES // 16 * 32,
    "quarters": LANES // 8,
    "eighths": LANES // 4,
    "pairs": LANES // 2,
    "mod2": LANES % 2,
    "mod4": LANES % 4,
    "mod8": LANES % 8,
    "mod16": LANES % 16,
    "reverse": 31 - LANES,
    "swap1": LANES ^ 1,
    "swap16": LANES ^ 16,
    "stride2": 2 * LANES,
    "stride3": 3 * LANES,
    "stride4": 4 * LANES,
    "stride8": 8 * LANES,
    "stride16": 16 * LANES,
    "stride17": 17 * LANES,
    "stride32": 32 * LANES,
    "stride33": 31 * LANES,
    "shifted": LANES + 3,
    "tile": LANES % 16 + LANES // 16 * 64,
    "tile_column": LANES % 4 * 64 + LANES // 4,
    "broadcast_rows": LANES // 16 * 64 + 7,
    "two_places": LANES % 2 * 100,
    "four_far": LANES // 8 * 200,
}
SOME_LANES = {
    "low": (LANES < 16),
    "high": (LANES >= 16),
    "even": (LANES % 2 == 0),
    "one": (LANES == 13),
    "quarter": (LANES // 8 == 2),
    "none": (LANES < 0),
    "thirty": (LANES < 30),
}


def patterns() -> Iterator[tuple[str, Ints, Ints]]:
    """(name, element of each lane, 1 for each lane that takes part)."""
    for name, idx in REGULAR.items():
        yield name, idx.astype(np.int32), ALL
    for some, lanes in SOME_LANES.items():
        for name in ("row", "halves_far", "stride8", "mod8", "reverse"):
            yield f"{name}_{some}", REGULAR[name].astype(np.int32), lanes.astype(np.int32)
    rng = np.random.default_rng(20)
    for number in range(14):
        reach = (8, 16, 32, 64, 128, 512, ELEMENTS)[number % 7]
        idx = rng.integers(0, reach, 32).astype(np.int32)
        on = ALL if number < 9 else (rng.random(32) < 0.6).astype(np.int32)
        yield f"random{number}", idx, on


WIDTHS = {"1": np.uint8, "2": np.int16, "4": np.int32, "8": np.int64, "16": np.complex128}


def launches() -> Iterator[tuple[str, str, tuple[int, ...], list[NDArray[np.generic] | int], int]]:
    """(kernel, pattern, (grid, block), arguments, dynamic shared bytes) of every measured launch."""
    for width, kind in WIDTHS.items():
        size = int(width)
        for name, idx, on in patterns():
            out = np.zeros(64, np.int32)
            data = (np.arange(ELEMENTS * size) % 251).astype(np.uint8).view(kind)
            shared = ELEMENTS * size
            yield f"lds_{width}", name, (1, 32), [idx, on, out], shared
            yield f"sts_{width}", name, (1, 32), [idx, on, out.copy()], max(shared, 1024)
            yield f"ldg_{width}", name, (1, 32), [idx, on, data, out.copy()], 0
            yield f"stg_{width}", name, (1, 32), [idx, on, data.copy()], 0
            if width != "2":
                yield f"local_{width}", name, (1, 32), [idx, on, out.copy()], 0
    for name, idx, on in patterns():
        out, words = np.zeros(32, np.int32), np.zeros(ELEMENTS, np.int32)
        yield "red_add", name, (1, 32), [idx, on, words], 0
        yield "atom_add", name, (1, 32), [idx, on, words.copy(), out], 0
        yield "atom_cas", name, (1, 32), [idx, on, words.copy(), out.copy()], 0
        yield "atoms_add", name, (1, 32), [idx, on, out.copy()], 4096
        yield "atoms_float", name, (1, 32), [idx, on, out.astype(np.float32)], 4096
    for threads in (7, 16, 32, 40, 48, 64):
        for n in (1, 5, 16, 31, 32, 40):
            values, out = np.arange(64, dtype=np.int32) * 7 % 11, np.zeros(128, np.int32)
            yield "partial_shuffle", f"{threads}_{n}", (1, threads), [values, out, n], 0
            if n < 32:
                yield "partial_vote", f"{threads}_{n}", (1, threads), [values, out.copy(), n], 0
