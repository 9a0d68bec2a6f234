"""How many of the units of L2 that do atomics share the work of a launch.  F5.

A unit does the atomics of its lines one sector after the other.  On an H200 two neighbouring lines belong to one unit,
the next two to another, and the six behind those to the same two units again: all atomics on 1 KB are done by two
units (`crowd lines` in measurements/h200/calibration.csv).  Which units those are looks like chance, so that of n
places on S units the fullest has as many as the fullest of S boxes into which n balls are thrown.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from warplens.model.by_warp import ByWarp, part, sectors_of
from warplens.model.footprint import footprint

ENOUGH = 1_000_000  # sectors to look at
MOST = 200  # places on one unit that are considered
WORDS, FLOATS = 1, 2  # kinds of atomics: those on whole numbers take as long as each other
NEIGHBOURS = 14  # places near each other share the work evenly (16 places: 12.4 to 15 units, 32: 14 to 22)


def places(sectors: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Of sectors (address / 32), numbers of what one unit does: every other two lines of 1 KB."""
    lines = sectors >> np.uint32(2)
    return lines >> np.uint32(3) << np.uint32(1) | lines >> np.uint32(1) & np.uint32(1)


def places_reached(
    streams: ByWarp, kinds: NDArray[np.int64], float_work: float, total: int, lows: NDArray[np.int64]
) -> tuple[float, float]:
    """How many places the atomics of `total` blocks reach, and the share of their work that one of these has.

    kinds        by instruction: 0 none, WORDS, FLOATS;  float_work: how long adding a float takes, to a word
    lows         where buffers begin, in order: on a GPU mostly at whole KB
    """
    some = streams
    seen = sectors_of(some, kinds, kinds, ENOUGH)
    while seen.share < 1.0 and len(some.blocks) > 1:
        few = max(int(len(some.blocks) * seen.share), 1)
        some = part(some, some.blocks[:few])  # the blocks stand in no order
        seen = sectors_of(some, kinds, kinds, ENOUGH)
    sectors = seen.sectors
    if not sectors.size:
        return 0.0, 0.0
    begins = lows[np.maximum(np.searchsorted(lows, sectors, side="right") - 1, 0)]
    found = (begins >> 4).astype(np.uint32) + places((sectors - begins).astype(np.uint32))
    numbers = np.array(some.blocks, np.int64)[seen.blocks]
    different, which = np.unique(found, return_inverse=True)
    work = np.bincount(which, weights=seen.alike * np.where(seen.kinds == FLOATS, float_work, 1.0))
    count = footprint(found, numbers, len(some.blocks), total, 1 << 40, seen.share).of(total)
    return max(count, float(different.size)), float(work.max() / work.sum()) * seen.share


def fullest(count: float, boxes: float) -> float:
    """Balls in the fullest box on average: summed over k, the chance that some box has more than k (Poisson)."""
    mean = count / boxes
    chance = math.exp(-mean)  # that a box has k
    more, found = 1.0 - chance, 0.0
    for k in range(1, MOST):
        found += -math.expm1(-boxes * max(more, 0.0))
        chance *= mean / k
        more -= chance
    return max(found, mean, 1.0)


def units_at_work(count: float, heaviest: float, units: float) -> float:
    """How many units' worth of work is done at a time.

    count     places that atomics reach;  heaviest: share of the atomics that go to one of them;  units: that there are
    """
    if count < 1:
        return 1.0
    even = max(count / fullest(count, units), min(count, NEIGHBOURS))
    return max(min(even, 1.0 / max(heaviest, 1e-9)), 1.0)
