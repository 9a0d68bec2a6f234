"""Reuse distance, in blocks: whether L2 still holds a sector at its next use.

Of the blocks that share a sector some are sampled, and their distances are known.  Where the m of B blocks that share
one are drawn at random and k of them sampled, a gap is longer than w blocks with probability (1 - w / B)^m, a gap
between sampled ones with (1 - w / B)^k: so the share of long gaps is that of the sampled ones to the power m / k.
Where they are equidistant (blocks of a grid column that read the same row), no gap is much shorter than B / m, and all
are as long as that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warplens.machine.parameter import assumed

# Gaps between uses below half the average, relative to those in a random order.
SHORT = assumed(0.25, "share", "fewer mean that the order is not random")
SHARED_BY = assumed(1.5, "blocks", "from as many on that share a sector their order matters")
ENOUGH = assumed(16, "gaps", "a large enough sample")


@dataclass(frozen=True)
class ReuseDistance:
    """gaps: blocks between two sampled sharers of a sector, ascending;  power: all sharers / sampled ones
    turn: blocks between uses where these are equidistant, 0 elsewhere"""

    gaps: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    power: float = 1.0
    turn: float = 0.0

    def hit_share(self, kept: float, lost: float) -> float:
        """Share of the uses after the first that hit if those within `kept` blocks do, and of equidistant ones some
        up to `lost` blocks."""
        if not self.gaps.size:
            return 0.0
        if self.turn:
            return float(np.clip((lost - self.turn) / max(lost - kept, 1e-9), 0.0, 1.0))
        longer = 1.0 - float(np.searchsorted(self.gaps, kept, side="right")) / self.gaps.size
        return float(1.0 - longer**self.power)

    def span(self, uses: float) -> float:
        """Average number of blocks from the first of so many uses to the last."""
        if not self.gaps.size:
            return 0.0
        seen = uses / self.power
        return (uses - 1) * float(self.gaps.mean()) * (seen + 1) / (uses + 1)


NEVER_AGAIN = ReuseDistance()


def reuse_distance(gaps: NDArray[np.float64], uses: float, seen: float, total: int) -> ReuseDistance:
    """uses: blocks that share a sector;  seen: sampled ones;  total: blocks of the grid"""
    half = total / (2 * max(uses, 1.0))
    by_chance = 1 - (1 - half / total) ** max(seen, 1.0)
    in_turn = gaps.size >= ENOUGH and uses > SHARED_BY and float((gaps < half).mean()) < SHORT * by_chance
    return ReuseDistance(np.sort(gaps), max(uses / max(seen, 1.0), 1.0), total / uses if in_turn else 0.0)
