"""What stores leave in L2 until DRAM gets it: whole sectors or parts, with neighbours or alone.

A sector of which only a part has been stored is filled up from DRAM before it is written there, or read by somebody.
A sector that is written alone costs DRAM as much as four among others (`store pieces` of the calibration).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.model.trace.warp_streams import ReachedLines

WHOLE = 32  # bytes
ROUNDING = 0.01  # defined: of sums of thirds and fifths
STORE, ATOMIC = 2, 3  # defined: kinds of a sector reached


@dataclass(frozen=True)
class DirtySectors:
    """Of the sectors of one buffer that a block stores to or changes: on average
    lone      share of them whose neighbour, the other half of 64 bytes, neither it nor a block beside it stores to
    partial   share of them of which these blocks neither store the whole nor have read it
    bytes     that they store of those;  blocks: how many of them do
    lines     of 128 bytes that the whole grid stores to;  atomic: share of what changes them that atomics are"""

    lone: float = 0.0
    partial: float = 0.0
    bytes: float = 0.0
    lines: float = 0.0
    blocks: float = 1.0
    atomic: float = 0.0


def stored(reached: ReachedLines, mine: NDArray[np.bool_], lines: float, asked: NDArray[np.bool_]) -> DirtySectors:
    """mine: which of those reached belong to the buffer;  lines: of it that the grid stores to
    asked: by entry of `reached`, whether its block is one that is asked about; the others are their neighbours"""
    changed = mine & (reached.kinds >= STORE)
    if not (changed & asked).any():
        return DirtySectors()
    sectors, pairs = reached.sectors[changed], _pairs(reached, changed)
    order = np.argsort(pairs, kind="stable")
    sectors, pairs = sectors[order], pairs[order]
    first = np.flatnonzero(np.diff(sectors, prepend=~sectors[:1]))
    covered = np.where(reached.kinds == ATOMIC, WHOLE, reached.covered)[changed][order]
    sums = np.minimum(np.add.reduceat(covered, first), WHOLE)
    blocks = np.add.reduceat((np.diff(pairs, prepend=~pairs[:1]) != 0).astype(np.int64), first)
    known, wanted = sectors[first], np.add.reduceat(asked[changed][order].astype(np.int64), first) > 0
    read = np.isin(known, np.unique(reached.sectors[mine & (reached.kinds == 1)]))
    parts = wanted & (sums < WHOLE - ROUNDING) & ~read
    lone = 1.0 - float(np.isin(known[wanted] ^ np.uint32(1), known).mean())
    some = bool(parts.any())
    return DirtySectors(
        lone, float(parts.sum() / wanted.sum()), float(sums[parts].mean()) if some else WHOLE, lines,
        float(blocks[parts].mean()) if some else 1.0, float((reached.kinds[changed] == ATOMIC).mean()),
    )  # fmt: skip


def _pairs(reached: ReachedLines, which: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Sector and block as one number."""
    return reached.sectors[which].astype(np.uint64) << np.uint64(32) | reached.blocks[which].astype(np.uint64)
