"""Dirty sectors: what stores leave in L2 until write-back, whole or partial, paired or lone.

A partially written sector is filled from DRAM before it is written back or read.  Writing back a lone sector costs DRAM
as much as four neighbouring ones (`store pieces` of the calibration).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from warplens.machine.parameter import assumed
from warplens.model.trace.warp_streams import ReachedSectors

WHOLE = 32  # bytes
ROUNDING = assumed(0.01, "bytes", "a tolerance: thirds and fifths of a sector add up to a whole one")


class SectorAccess(IntEnum):
    """Kind of an access to a sector; ATOMIC both loads and stores."""

    NONE = 0
    LOAD = 1
    STORE = 2
    ATOMIC = 3


@dataclass(frozen=True)
class DirtySectors:
    """Averages over the sectors of one buffer that a block writes:
    lone      share whose neighbour in the same 64 bytes is written neither by the block nor by a neighbouring block
    partial   share that these blocks neither write completely nor have read
    bytes     written in those;  blocks: that write them
    lines     of 128 bytes that the whole grid writes;  atomic: share of the writes that are atomics"""

    lone: float = 0.0
    partial: float = 0.0
    bytes: float = 0.0
    lines: float = 0.0
    blocks: float = 1.0
    atomic: float = 0.0


def dirty_sectors(
    reached: ReachedSectors, mine: NDArray[np.bool_], lines: float, asked: NDArray[np.bool_]
) -> DirtySectors:
    """mine: entries of `reached` in the buffer;  lines: of it that the grid writes
    asked: by entry of `reached`, whether its block is one of the sample; the others are neighbours"""
    changed = mine & (reached.kinds >= SectorAccess.STORE)
    if not (changed & asked).any():
        return DirtySectors()
    sectors, pairs = reached.sectors[changed], _sector_block_keys(reached, changed)
    order = np.argsort(pairs, kind="stable")
    sectors, pairs = sectors[order], pairs[order]
    first = np.flatnonzero(np.diff(sectors, prepend=~sectors[:1]))
    covered = np.where(reached.kinds == SectorAccess.ATOMIC, WHOLE, reached.covered)[changed][order]
    sums = np.minimum(np.add.reduceat(covered, first), WHOLE)
    blocks = np.add.reduceat((np.diff(pairs, prepend=~pairs[:1]) != 0).astype(np.int64), first)
    known, wanted = sectors[first], np.add.reduceat(asked[changed][order].astype(np.int64), first) > 0
    read = _among(known, reached.sectors[mine & (reached.kinds == SectorAccess.LOAD)])
    parts = wanted & (sums < WHOLE - ROUNDING) & ~read
    lone = 1.0 - float(_paired(known)[wanted].mean())
    some = bool(parts.any())
    return DirtySectors(
        lone, float(parts.sum() / wanted.sum()), float(sums[parts].mean()) if some else WHOLE, lines,
        float(blocks[parts].mean()) if some else 1.0, float((reached.kinds[changed] == SectorAccess.ATOMIC).mean()),
    )  # fmt: skip


def _among(known: NDArray[np.uint32], others: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which of the ascending `known` are among the others.  np.isin hashes or sorts both: five times as slow."""
    found = np.zeros(known.size, bool)
    places = np.minimum(np.searchsorted(known, others), known.size - 1)
    found[places[known[places] == others]] = True
    return found


def _paired(known: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which of the ascending `known` have the other sector of their 64 bytes beside them."""
    paired = np.zeros(known.size, bool)
    paired[1:] = known[1:] == known[:-1] ^ np.uint32(1)
    paired[:-1] |= paired[1:]
    return paired


def _sector_block_keys(reached: ReachedSectors, which: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Sector and block packed into one integer."""
    return reached.sectors[which].astype(np.uint64) << np.uint64(32) | reached.blocks[which].astype(np.uint64)
