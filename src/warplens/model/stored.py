"""What stores leave in L2 until DRAM gets it: whole sectors or parts, with neighbours or alone.  F5.

A sector of which only a part has been stored is filled up from DRAM before it is written there, or read by somebody.
A sector that is written alone costs DRAM as much as four among others (`store pieces` of the calibration).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.model.by_warp import Reached

WHOLE = 32  # bytes
STORE, ATOMIC = 2, 3  # kinds of a sector reached


@dataclass(frozen=True)
class Stored:
    """Of the sectors of one buffer that a block stores to or changes: on average
    lone      share of them whose neighbour, the other half of 64 bytes, the block leaves alone
    partial   share of them of which the block neither stores the whole nor has read it
    bytes     that the block stores of those
    lines     of 128 bytes that the whole grid stores to"""

    lone: float = 0.0
    partial: float = 0.0
    bytes: float = 0.0
    lines: float = 0.0


def stored(reached: Reached, mine: NDArray[np.bool_], lines: float) -> Stored:
    """mine: which of those reached belong to the buffer;  lines: of it that the grid stores to"""
    changed = mine & (reached.kinds >= STORE)
    if not changed.any():
        return Stored()
    pairs = _pairs(reached, changed)
    order = np.argsort(pairs, kind="stable")
    different = np.flatnonzero(np.diff(pairs[order], prepend=~pairs[order[:1]]))
    known = pairs[order][different]
    covered = np.where(reached.kinds == ATOMIC, WHOLE, reached.covered)[changed][order]
    sums = np.minimum(np.add.reduceat(covered.astype(np.int64), different), WHOLE)
    read = np.isin(known, np.unique(_pairs(reached, mine & (reached.kinds == 1))))
    parts = (sums < WHOLE) & ~read
    lone = 1.0 - float(np.isin(known ^ np.uint64(1 << 32), known).mean())
    return Stored(lone, float(parts.mean()), float(sums[parts].mean()) if parts.any() else WHOLE, lines)


def _pairs(reached: Reached, which: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Sector and block as one number."""
    return reached.sectors[which].astype(np.uint64) << np.uint64(32) | reached.blocks[which].astype(np.uint64)
