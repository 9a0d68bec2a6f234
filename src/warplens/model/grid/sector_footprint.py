"""Sector footprint: the number of distinct sectors that a grid reaches, estimated from sampled blocks.

Pairs of blocks that reach the same sector show how many share one.  If m of B blocks reach each sector, then of n
blocks drawn at random two reach it (m - 1) (n - 1) / (B - 1) / 2 times as often as one does; all blocks together reach
as many distinct sectors as they reach sectors, divided by m.  That holds where all sectors have equally many sharers:
for those that neighbouring blocks share the number is known (neighbours.py), for the others random pairs give it.
Sectors that several sampled blocks share are so common that all of them have been seen: they are counted, not
estimated. A buffer has no more sectors than its size, and an estimate of nearly all of it is taken as all: with two
hundred pairs of sharing blocks the random error is a tenth.

Sectors of one block alone may lie beside widely shared ones in a buffer (a matrix whose tiles are updated by its first
row and column).  If so, the shared ones follow one Poisson distribution, and more are seen once than it has.

The distance between blocks that share a sector decides whether it is still in L2 (reuse_distance.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.machine.parameter import assumed
from warplens.model.grid.l2_partitions import allocated_lines, refetch_share
from warplens.model.grid.neighbours import neighbours
from warplens.model.grid.reuse_distance import NEVER_AGAIN, BlockOrder, ReuseDistance, UseGaps, reuse_distance
from warplens.model.grid.simulated_blocks import Grid

# By which an estimate may be below the whole buffer, which then counts as reached.
ERRORS = assumed(2.0, "standard errors", "nineteen of twenty estimates are nearer")
COMMON = assumed(4, "sampled blocks", "a sector of so many is common, unless random sharing gives as many")
MORE_THAN_CHANCE = assumed(1.25, "factor", "more than random sharing gives, by more than chance")

WINDOWS = assumed(48, "window sizes", "effort: of a working set")
SHARED_ENOUGH = assumed(50, "sectors", "of which a random error is a seventh")
MOST_EXPONENT = 700  # defined: e to its power is a double
MORE_SPREAD = assumed(1.5, "factor", "variance over mean: 1 in a Poisson distribution, and random errors")


class SectorClass(NamedTuple):
    """Sectors that equally many blocks share, and their reuse distance."""

    sectors: float
    shared: float
    reuse: ReuseDistance


@dataclass(frozen=True)
class SectorFootprint:
    """Of one buffer, for loads or for stores.

    total      blocks of the grid;  each: distinct sectors of one block, on average;  accesses: all of one block
    common     widely shared sectors;  widely: blocks that share each
    others     other distinct sectors of the whole grid;  shared: blocks that share each
    most       sectors of the buffer;  seen: that the sampled blocks reach
    commons_again, others_again   reuse distances of these
    """

    total: int
    each: float
    common: float
    widely: float
    others: float
    shared: float
    most: int
    seen: int
    accesses: float = 0.0
    commons_again: ReuseDistance = NEVER_AGAIN
    others_again: ReuseDistance = NEVER_AGAIN

    def of(self, blocks: float) -> float:
        """Distinct sectors that so many randomly drawn blocks reach."""
        missed = max(1 - blocks / self.total, 0.0)  # share of the grid
        reached = self.common * (1 - missed**self.widely) + self.others * (1 - missed**self.shared)
        return float(min(reached, self.most))

    def of_consecutive(self, blocks: int) -> float:
        """Distinct sectors that so many blocks in a row reach."""
        windows = np.concatenate([[0.0], np.geomspace(0.5, max(blocks, 1), WINDOWS)])
        return max(float(self.working_set(windows)[-1]), self.each)

    @property
    def uses(self) -> float:
        """Blocks that reach a sector, on average."""
        every = self.common + self.others
        return max((self.common * self.widely + self.others * self.shared) / every, 1.0) if every else 1.0

    @property
    def by_both(self) -> float:
        """Share of the sectors that blocks of both L2 partitions reach, if m blocks reach one: 1 - 2^(1 - m)."""
        every = self.common + self.others
        found = self.common * (1 - 2 ** (1 - self.widely)) + self.others * (1 - 2 ** (1 - self.shared))
        return found / every if every else 0.0

    def _classes(self) -> tuple[SectorClass, SectorClass]:
        return (
            SectorClass(self.common, self.widely, self.commons_again),
            SectorClass(self.others, self.shared, self.others_again),
        )

    def working_set(self, windows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distinct sectors that the last blocks have reached, for window sizes ascending from 0."""
        found = sum(self._working_set_growth(windows, *each) for each in self._classes())
        return np.minimum(found, self.most)

    def partition_copies(self, windows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Likewise, sectors that the other of two L2 partitions holds as well, less those that only that one holds
        (l2_partitions.py)."""
        found = np.zeros(windows.size)
        for sectors, shared, again in self._classes():
            grown = self._working_set_growth(windows, sectors, shared, again)
            if not again.is_random or not sectors:
                found += grown * (0.5 + 0.5 * self.by_both)
            else:
                uses = windows * shared / self.total
                found += sectors * (allocated_lines(grown / sectors, uses) - grown / sectors)
        return np.minimum(found, self.most)

    def _working_set_growth(
        self, windows: NDArray[np.float64], sectors: float, shared: float, again: ReuseDistance
    ) -> NDArray[np.float64]:
        """Working-set growth (Denning, "The working set model", 1968): a window grows by uses whose previous use
        lies before it, that is after a longer gap, and by first uses."""
        middles, steps = (windows[1:] + windows[:-1]) / 2, np.diff(windows)
        left = 1 - middles / self.total
        gone = again.late_shares(windows) if sectors else np.zeros(middles.size)
        first = np.maximum(1 - middles / max(self.total - again.span(shared), 1.0), 0.0)
        new = np.minimum((gone + (first - gone) / max(shared, 1.0)) / np.maximum(left, 1e-9), 1.0)
        grown = np.cumsum(sectors * shared / self.total * new * steps)
        return np.concatenate([[0.0], np.minimum(grown, sectors)])

    def miss_footprint(self, kept: float, lost: float) -> SectorFootprint:
        """Footprint if reuse after more than `kept` blocks misses: the sector has been evicted.

        lost   of equidistant uses, some hit until so many blocks have passed
        """
        return self._with_refetches(*(1 - each.reuse.hit_share(kept, lost) for each in self._classes()))

    def dram_footprint(self, lines: SectorFootprint, kept: float, lost: float, beside: float) -> SectorFootprint:
        """Likewise where L2 holds `lines` and DRAM is read for these sectors; beside: share of the uses that may hit
        a copy in the partition that is not their home (l2_partitions.py)."""
        anew = []
        for (_, shared, again), (_, line_shared, line_again) in zip(self._classes(), lines._classes(), strict=True):
            unused = 1 - again.hit_share(kept, lost)
            if again.is_random and line_again.gaps.size:
                apart = min(max(line_shared / shared - 1, 0.0), 1.0)
                full = 1 - kept / self.total  # share of the uses after L2 has filled up
                unused = full * refetch_share(1 - line_again.hit_share(kept, lost), apart, beside)
            anew.append(unused)
        return self._with_refetches(*anew)

    def _with_refetches(self, of_common: float, of_others: float) -> SectorFootprint:
        """Shares of the uses after the first that miss, of both classes."""
        common = self.common * (1 + (self.widely - 1) * of_common)
        others = self.others * (1 + (self.shared - 1) * of_others)
        again = common - self.common + others - self.others
        return replace(
            self, common=common, widely=self.common * self.widely / common if common else 1.0,
            others=others, shared=self.others * self.shared / others if others else 1.0, most=self.most + int(again),
        )  # fmt: skip


NOBODY = np.zeros(0, np.int64)
NOTHING = SectorFootprint(1, 0.0, 0.0, 1.0, 0.0, 1.0, 0, 0)
PROGRESS = (1 << 16) - 1  # defined: of a block, that are told apart


class BlockSample(NamedTuple):
    """Sampled blocks of a grid.

    numbers   of the blocks, ascending;  order: in which the grid runs them
    share     of all lines, from which their sectors are
    grid      its dimensions, where neighbours are known
    """

    numbers: NDArray[np.int64]
    order: BlockOrder
    share: float = 1.0
    grid: Grid = (0, 0, 0)


class SectorUses(NamedTuple):
    """Sectors that sampled blocks reach, one entry each.

    blocks   index into BlockSample.numbers, up to 65,535;  progress: share of the block's work before
    """

    sectors: NDArray[np.uint32]
    blocks: NDArray[np.int64]
    progress: NDArray[np.float64]

    def first_uses(self) -> NDArray[np.uint64]:
        """By sector and block, in this order, the first: 32 bits of sector, 16 of block, 16 of progress."""
        keys = self.sectors.astype(np.uint64) << np.uint64(32) | self.blocks.astype(np.uint64) << np.uint64(16)
        keys = np.sort(keys | (PROGRESS * self.progress).astype(np.uint64))
        pairs = keys >> np.uint64(16)
        found: NDArray[np.uint64] = keys[np.diff(pairs, prepend=~pairs[:1]) != 0]  # np.unique hashes: ten times as slow
        return found


def footprint(uses: SectorUses, sample: BlockSample, most: int, beside: NDArray[np.int64] = NOBODY) -> SectorFootprint:
    """most: sectors of the buffer;  beside: for some sectors, how many neighbours share them"""
    if not uses.sectors.size:
        return NOTHING
    firsts, sampled, share, order = uses.first_uses(), sample.numbers.size, sample.share, sample.order
    places = firsts >> np.uint64(32)
    blocks = sample.numbers[(firsts >> np.uint64(16) & np.uint64(0xFFFF)).astype(np.int64)]
    progress = (firsts & np.uint64(PROGRESS)).astype(np.float64) / PROGRESS
    _, times = np.unique(places, return_counts=True)
    again = np.flatnonzero(places[1:] == places[:-1])
    gaps, total = UseGaps.of(places, blocks, progress, order), order.total
    chance = _pair_randomness(blocks, again, sampled)
    usual = (times >= COMMON).sum() <= MORE_THAN_CHANCE * chance * _expected_common(times)
    limit = times.max() + 1 if usual else COMMON
    common = np.repeat(times, times - 1) >= limit  # by gap: whether its sector is common
    each, accesses = firsts.size / sampled / share, uses.sectors.size / sampled / share
    if sampled >= total:
        shared = firsts.size / times.size
        return SectorFootprint(
            total, each, 0.0, 1.0, times.size / share, shared, most, times.size, accesses,
            others_again=reuse_distance(gaps, shared, shared, order),
        )  # fmt: skip
    mixture = _mixture(times)
    if mixture is not None:
        shared_by_many = float((times > 1).sum()) / (1 - (1 + mixture.mean) * math.exp(-mixture.mean)) / share
        alone = min(mixture.alone * total / sampled / share, max(most - shared_by_many, 0.0))
        widely = mixture.mean * total / sampled
        return SectorFootprint(
            total, each, shared_by_many, widely, alone, 1.0, most, times.size, accesses,
            reuse_distance(gaps, widely, mixture.mean, order),
        )  # fmt: skip
    many = times[times >= limit]
    few = times[times < limit]
    met = float((few * (few - 1) / 2).sum())
    if beside.size and again.size:
        after, before = (blocks[again + n] for n in (1, 0))
        met *= 1 - float(neighbours(after[~common], before[~common], sample.grid).mean()) if (~common).any() else 1.0
    shared = _mean_sharers(few, met, (total - 1) / max(sampled - 1, 1), chance)
    if beside.size:
        shared = 1 / float((1 / (shared - 1 + beside)).mean())
    others = max(float(few.sum()) * total / sampled / shared, float(few.size)) / share
    whole = most - many.size / share
    met_by = max(_count_block_pairs(blocks, again[~common]), 1)
    if met and 0 < whole <= others * (1 + ERRORS / math.sqrt(met_by)):
        others, shared = whole, shared * others / whole
    widely = float(many.mean()) * total / sampled if many.size else 1.0
    gaps_of = few - 1
    seen = float((few * gaps_of).sum() / gaps_of.sum()) if gaps_of.any() else 2.0  # sharers, by gap
    return SectorFootprint(
        total, each, many.size / share, widely, others, shared, most, times.size, accesses,
        reuse_distance(gaps.select(common), widely, widely * sampled / total, order),
        reuse_distance(gaps.select(~common), shared, seen, order),
    )  # fmt: skip


class _Mixture(NamedTuple):
    """alone: sampled sectors of one block each;  mean: of sampled blocks that share one of the others."""

    alone: float
    mean: float


def _mixture(times: NDArray[np.int64]) -> _Mixture | None:
    """Sectors of one block each beside others that equally many share; None where there is one kind only, or more."""
    shared = times[times > 1]
    if shared.size < SHARED_ENOUGH:
        return None
    mean = _poisson_mean(float(shared.mean()))
    if mean < 1 or shared.var() > MORE_SPREAD * mean:  # too few to see of which kind they are, or of several kinds
        return None
    once = shared.size * mean / (math.exp(min(mean, MOST_EXPONENT)) - 1 - mean)  # that others share, too
    alone = float((times == 1).sum()) - once
    return _Mixture(alone, mean) if alone > max(once, ERRORS * math.sqrt(once)) else None


def _poisson_mean(seen: float) -> float:
    """Mean x of a Poisson distribution whose values above 1 have the mean `seen`: x (1 - e^-x) / (1 - (1 + x) e^-x)."""
    low, high = 0.0, seen
    for _ in range(40):
        mean = (low + high) / 2
        found = mean * -math.expm1(-mean) / max(1 - (1 + mean) * math.exp(-mean), 1e-300)
        low, high = (mean, high) if found < seen else (low, mean)
    return low


def _pair_randomness(blocks: NDArray[np.int64], again: NDArray[np.int64], sampled: int) -> float:
    """1 where any two blocks are equally likely to share a sector, 0 where a few share all."""
    every = max(sampled * (sampled - 1) / 2, 1.0)
    expected = -every * math.expm1(-again.size / every)
    return min(_count_block_pairs(blocks, again) / expected, 1.0) if again.size else 0.0


def _mean_sharers(times: NDArray[np.int64], met: float, scale: float, anyone: float) -> float:
    """Average sharers of a sector, if pairs of sampled blocks share one `met` times.

    If all sectors have m sharers, a shared one has m; if sharing is random with mean m, it has m + 1.  Triples decide
    which: they occur (m - 2) / (m - 1) times as often as pairs, or equally often.  They mean little where few blocks
    share all that is shared.
    """
    more = 2 * met / max(float(times.sum()), 1.0) * scale
    pairs = float((times * (times - 1)).sum())
    if more <= 1 or not pairs:
        return 1 + more
    often = float((times * (times - 1) * (times - 2)).sum()) / pairs * scale / more
    chance = anyone * min(max((often - (more - 1) / more) * more, 0.0), 1.0)
    return (1 + more) * (1 - chance) + more / -math.expm1(-more) * chance


def _expected_common(times: NDArray[np.int64]) -> float:
    """Expected sectors with COMMON sharers or more under uniform sharing, from those with one and two (Poisson)."""
    one, two = float((times == 1).sum()), float((times == 2).sum())
    if not one:
        return 0.0
    mean = 2 * two / one
    fewer = sum(mean**n / math.factorial(n) for n in range(COMMON))
    return one / max(mean, 1e-9) * (math.exp(min(mean, 50.0)) - fewer)


def _count_block_pairs(blocks: NDArray[np.int64], again: NDArray[np.int64]) -> int:
    """Distinct pairs of consecutive blocks that share a sector: each pair counts once, whether it shares one sector
    or many."""
    return int(np.unique(blocks[again] << 32 | blocks[again + 1]).size)
