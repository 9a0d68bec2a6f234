"""After how many blocks sectors are used again: whether L2 still has them then.

Of the blocks that share a sector some are seen, and how far these lie apart.  Where the m of B blocks that share one
are drawn at random and k of them seen, the chance that a gap is longer than w blocks is (1 - w / B)^m, that of a gap
between those seen (1 - w / B)^k: so the share of long gaps is that of those seen to the power m / k.  Where they follow
each other at equal distances (blocks of a column of the grid that read the same row), no gap is much shorter than
B / m, and all are as long as that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

SHORT = 0.25  # assumed: of the gaps below half of the average one that chance would give: fewer are no chance
SHARED_BY = 1.5  # assumed: blocks that share a sector, from which on their order matters
ENOUGH = 16  # assumed: gaps that tell anything


@dataclass(frozen=True)
class ReuseDistance:
    """gaps: blocks between two that were seen to share a sector, in order;  power: all that share one to those seen
    turn: blocks from one use to the next where these follow each other at equal distances, 0 where they do not"""

    gaps: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    power: float = 1.0
    turn: float = 0.0

    def kept(self, kept: float, lost: float) -> float:
        """Share of the uses after the first that find their sector if those within `kept` blocks do, and of those at
        equal distances some until `lost` blocks have passed."""
        if not self.gaps.size:
            return 0.0
        if self.turn:
            return float(np.clip((lost - self.turn) / max(lost - kept, 1e-9), 0.0, 1.0))
        longer = 1.0 - float(np.searchsorted(self.gaps, kept, side="right")) / self.gaps.size
        return float(1.0 - longer**self.power)

    def span(self, uses: float) -> float:
        """Blocks from the first of so many uses to the last, on average."""
        if not self.gaps.size:
            return 0.0
        seen = uses / self.power
        return (uses - 1) * float(self.gaps.mean()) * (seen + 1) / (uses + 1)


NEVER_AGAIN = ReuseDistance()


def reuse(gaps: NDArray[np.float64], uses: float, seen: float, total: int) -> ReuseDistance:
    """uses: blocks that share a sector;  seen: of these;  total: blocks of the grid"""
    half = total / (2 * max(uses, 1.0))
    by_chance = 1 - (1 - half / total) ** max(seen, 1.0)
    in_turn = gaps.size >= ENOUGH and uses > SHARED_BY and float((gaps < half).mean()) < SHORT * by_chance
    return ReuseDistance(np.sort(gaps), max(uses / max(seen, 1.0), 1.0), total / uses if in_turn else 0.0)
