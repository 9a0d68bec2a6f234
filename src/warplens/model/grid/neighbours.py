"""Neighbouring blocks: how many of them share a sector (tile borders, rows that are no whole lines).

Randomly drawn blocks are seldom neighbours, and a border is a small part of a tile: an average of two sharers does not
give the number of shared sectors, where some are shared by four and most by none.  So some blocks are sampled with all
their neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.machine.parameter import assumed
from warplens.model.grid.simulated_blocks import Grid, offsets

APART = assumed(0.75, "of the long gaps in a random order", "blocks with more do not run in lockstep")
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


class UseTimes(NamedTuple):
    """When blocks first use the lines that they share, in shares of the launch or of their own work.

    distance   0 in lockstep, 1 at random times
    drift      distance between those that use a line together
    groups     of blocks that use a line together: where these come again and again, each time others
    """

    distance: float = 0.0
    drift: float = 0.0
    groups: float = 1.0

    @property
    def in_step(self) -> bool:
        return self.distance <= APART


def use_times(lines: NDArray[np.uint32], blocks: NDArray[np.int32], when: NDArray[np.float64]) -> UseTimes:
    """when   share of the work before each entry"""
    order = np.lexsort((when, blocks, lines))
    lines, blocks, when = lines[order], blocks[order], when[order]
    first = np.ones(lines.size, bool)
    first[1:] = (lines[1:] != lines[:-1]) | (blocks[1:] != blocks[:-1])
    order = np.flatnonzero(first)[np.lexsort((when[first], lines[first]))]
    lines, blocks, when = lines[order], blocks[order], when[order]
    same = lines[1:] == lines[:-1]
    if not same.any():
        return UseTimes()
    _, uses = np.unique(lines, return_counts=True)
    long = np.diff(when)[same] > 0.5 / (np.repeat(uses, uses - 1) + 1)
    distance = min(float(long.mean()) / math.exp(-0.5), 1.0)
    alone = ~same
    if distance <= APART:
        alone[np.flatnonzero(same)[long]] = True
    group = np.concatenate([[0], np.cumsum(alone)])
    order = np.lexsort((blocks, group))
    together = np.diff(group) == 0
    drift = np.abs(np.diff(when[order]))[together].mean() if together.any() else 1.0
    groups = 1 + float(long.sum()) / np.count_nonzero(uses > 1) if distance <= APART else 1.0
    return UseTimes(distance, min(3 * float(drift), 1.0), groups)
