"""Reuse distance: whether L2 still holds a sector at its next use.

Distances are times, and the unit of time is the block: a launch takes as long as it has blocks.  The SMs run one block
each in step, generation after generation: a use comes after all earlier generations, and as late within its own as the
block has progressed by then.  Older blocks of an SM go first where they have to share it (`steps of tiles 32` of
measurements/h200/calibration_lookups.csv, 256 multiply-adds between: with 4 or 8 blocks an SM DRAM gives a matrix once
for each generation of 132 blocks; where they only wait for memory, or are two, all resident blocks go in step).  Blocks
that are all resident from the start are one generation.

Of the blocks that share a sector some are sampled, and their distances are known.  Where the m of B blocks that share
one are drawn at random and k of them sampled, a gap is longer than w blocks with probability (1 - w / B)^m, a gap
between sampled ones with (1 - w / B)^k: so the share of long gaps is that of the sampled ones to the power m / k.
Where they are equidistant (blocks of a grid column that read the same row), those of one generation use it together,
and the first of them long after the generation before.  Where most gaps are short otherwise, they use it together, too:
of each group some are sampled, so the long gaps are known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.machine.parameter import assumed

# Gaps between uses below half the average, relative to those in a random order.
SHORT = assumed(0.25, "share", "fewer mean that the order is not random")
SHARED_BY = assumed(1.5, "blocks", "from as many on that share a sector their order matters")
ENOUGH = assumed(16, "gaps", "a large enough sample")
# Gaps below half the average; in a random order 1 - e^(-1/2) at most.
TOGETHER = assumed(0.5, "share", "more mean that blocks use a sector together")
TIMES = (1 << 32) - 1  # defined: of a launch, that are told apart


class BlockOrder(NamedTuple):
    """total: blocks of the grid;  in_step: that run in step, a generation."""

    total: int
    in_step: int = 1

    @property
    def generations(self) -> float:
        return max(self.total / self.in_step, 1.0)

    def times(self, blocks: NDArray[np.int64], progress: NDArray[np.float64]) -> NDArray[np.float64]:
        """At which blocks have progressed so far, in blocks."""
        return self.in_step * (blocks // self.in_step + progress)


class UseGaps(NamedTuple):
    """Gaps between uses of a sector by sampled blocks, those of one sector after those of the other.

    blocks, progress   between each two that follow each other in the grid: by number, and by their progress
    times              between each two that follow each other in time
    """

    blocks: NDArray[np.float64]
    progress: NDArray[np.float64]
    times: NDArray[np.float64]

    @staticmethod
    def of(
        sectors: NDArray[np.uint64], blocks: NDArray[np.int64], progress: NDArray[np.float64], order: BlockOrder
    ) -> UseGaps:
        """sectors, blocks, progress: of each use, in order by sector, then by block"""
        again = np.flatnonzero(sectors[1:] == sectors[:-1])
        scale = TIMES // (order.total + order.in_step)  # whole blocks are exact
        when = np.sort(sectors << np.uint64(32) | (scale * order.times(blocks, progress)).astype(np.uint64))
        return UseGaps(
            (blocks[again + 1] - blocks[again]).astype(np.float64), np.abs(progress[again + 1] - progress[again]),
            (when[again + 1] - when[again]).astype(np.float64) / scale,
        )  # fmt: skip

    def select(self, which: NDArray[np.bool_]) -> UseGaps:
        return UseGaps(*(each[which] for each in self))


@dataclass(frozen=True)
class ReuseDistance:
    """gaps: between two sampled uses of a sector, ascending;  power: all sharers / sampled ones
    turn: blocks between uses where these are equidistant, 0 elsewhere
    together: share of the uses after the first that come with another one, after one of the gaps `apart`, ascending"""

    gaps: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    power: float = 1.0
    turn: float = 0.0
    together: float = 0.0
    apart: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @property
    def is_random(self) -> bool:
        return not self.turn and not self.together

    def hit_share(self, kept: float, lost: float) -> float:
        """Share of the uses after the first that hit if those within `kept` blocks do, and of equidistant ones some
        up to `lost` blocks."""
        if not self.gaps.size:
            return 0.0
        if self.turn:
            others = float(np.clip((lost - self.turn) / max(lost - kept, 1e-9), 0.0, 1.0))
        else:
            others = 1.0 - (1.0 - share_within(kept, self.gaps)) ** (1.0 if self.together else self.power)
        return self.together * share_within(kept, self.apart) + (1.0 - self.together) * others

    def late_shares(self, windows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Between each two windows, the share of the uses after the first that come after a longer gap."""
        low, high = windows[:-1], windows[1:]
        if not self.turn:
            return 1 - np.array([self.hit_share(w, w) for w in ((low + high) / 2).tolist()])
        together = np.array([share_within(w, self.apart) for w in ((low + high) / 2).tolist()])
        others = np.clip((self.turn - low) / (high - low), 0.0, 1.0)
        return self.together * (1 - together) + (1 - self.together) * others

    def span(self, uses: float) -> float:
        """Average number of blocks from the first of so many uses to the last."""
        if not self.gaps.size:
            return 0.0
        seen = uses / self.power
        return (uses - 1) * float(self.gaps.mean()) * (seen + 1) / (uses + 1)


NEVER_AGAIN = ReuseDistance()


def share_within(most: float, gaps: NDArray[np.float64]) -> float:
    return float(np.searchsorted(gaps, most, side="right")) / max(gaps.size, 1)


def reuse_distance(gaps: UseGaps, uses: float, seen: float, order: BlockOrder) -> ReuseDistance:
    """uses: blocks that share a sector;  seen: sampled ones"""
    sorted_gaps, power = np.sort(gaps.times), max(uses / max(seen, 1.0), 1.0)
    if gaps.times.size < ENOUGH or uses <= SHARED_BY:
        return ReuseDistance(sorted_gaps, power)
    half = order.total / (2 * uses)
    by_chance = 1 - (1 - half / order.total) ** max(seen, 1.0)
    if order.generations > 1 and float((gaps.blocks < half).mean()) < SHORT * by_chance:
        together = max(uses - order.generations, 0.0) / (uses - 1)
        turn = max(order.total / uses, order.in_step if together else 0.0)
        return ReuseDistance(sorted_gaps, power, turn, together, np.sort(gaps.progress) * order.in_step)
    apart = sorted_gaps[sorted_gaps < half]
    if apart.size <= TOGETHER * sorted_gaps.size:
        return ReuseDistance(sorted_gaps, power)
    return ReuseDistance(sorted_gaps, power, 0.0, max(1 - (seen - 1) / (uses - 1), 0.0), apart)
