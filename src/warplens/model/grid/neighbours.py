"""Neighbouring blocks: how many of them share a sector (tile borders, rows that are no whole lines).

Randomly drawn blocks are seldom neighbours, and a border is a small part of a tile: an average of two sharers does not
give the number of shared sectors, where some are shared by four and most by none.  So some blocks are sampled with all
their neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warplens.model.grid.simulated_blocks import Grid, offsets

Numbers = NDArray[np.int64]


def sharers(sectors: NDArray[np.uint32], blocks: Numbers, centres: Sequence[int], grid: Grid) -> Numbers:
    """For each distinct sector that a centre reaches: the number of blocks, itself and its neighbours, that reach it.

    sectors, blocks: every sector reached by centres and neighbours, and the number of its block
    """
    if not sectors.size:
        return np.zeros(0, np.int64)
    pairs = np.sort(sectors.astype(np.uint64) << np.uint64(32) | blocks.astype(np.uint64))
    pairs = pairs[np.diff(pairs, prepend=~pairs[:1]) != 0]
    numbers = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    mine = np.isin(numbers, np.array(centres, np.int64))
    of, place = numbers[mine], pairs[mine] >> np.uint64(32) << np.uint64(32)
    found = np.ones(of.size, np.int64)
    for x, y, z in offsets(grid):
        there = np.ones(of.size, bool)
        for at, size, step in zip(coordinates(of, grid), grid, (x, y, z), strict=True):
            there &= (at + step >= 0) & (at + step < size)
        wanted = place | np.where(there, of + x + grid[0] * (y + grid[1] * z), 0).astype(np.uint64)
        at = np.minimum(np.searchsorted(pairs, wanted), pairs.size - 1)
        found += there & (pairs[at] == wanted)
    return found


def coordinates(blocks: Numbers, grid: Grid) -> tuple[Numbers, Numbers, Numbers]:
    """x, y, z of block numbers."""
    return blocks % grid[0], blocks // grid[0] % grid[1], blocks // (grid[0] * grid[1])


def neighbours(some: Numbers, others: Numbers, grid: Grid) -> NDArray[np.bool_]:
    """Whether two blocks are neighbours, pair by pair."""
    near = np.ones(some.size, bool)
    for a, b in zip(coordinates(some, grid), coordinates(others, grid), strict=True):
        near &= abs(a - b) <= 1
    return near


def progress_distance(
    lines: NDArray[np.uint32], blocks: NDArray[np.int32], when: NDArray[np.float64]
) -> tuple[float, float]:
    """(distance in progress between blocks that load the same line: 0 in lockstep, 1 random; when they first do).

    when   share of the warp's trace before each entry
    """
    order = np.lexsort((blocks, lines))
    lines, blocks, when = lines[order], blocks[order], when[order]
    same = lines[1:] == lines[:-1]
    both = same & (blocks[1:] != blocks[:-1])
    if not both.any():
        return 0.0, 0.0
    firsts = np.flatnonzero(np.concatenate([[True], both | ~same]))
    again = lines[firsts][1:] == lines[firsts][:-1]
    apart_by = np.abs(np.diff(when))[both].mean(), np.abs(np.diff(when[firsts]))[again].mean()
    return min(3 * float(apart_by[0]), 1.0), min(3 * float(apart_by[1]), 1.0)
