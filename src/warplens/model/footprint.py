"""How many different sectors a grid reaches, from some of its blocks.  F5.

Two blocks that reach the same sector show how many share one.  If m of B blocks reach each sector, then of n blocks
drawn at random two reach it (m - 1) (n - 1) / (B - 1) / 2 times as often as one does; and all blocks together reach as
many different sectors as they reach sectors, divided by m.  Sectors that several of the sampled blocks share are so
common that all of them have been seen: they are counted, not estimated.  A buffer has no more sectors than its size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COMMON = 4  # of the sampled blocks, from which on a sector counts as common


@dataclass(frozen=True)
class Footprint:
    """Of one buffer, for loads or for stores.

    total      blocks of the grid;  each: different sectors of one block, on average
    common     sectors that are shared widely;  widely: by how many blocks each
    others     different sectors besides, of the whole grid;  shared: by how many blocks each
    most       sectors that there are;  seen: that the sampled blocks reach
    """

    total: int
    each: float
    common: float
    widely: float
    others: float
    shared: float
    most: int
    seen: int

    def of(self, blocks: float) -> float:
        """Different sectors that so many blocks reach, as if drawn at random."""
        missed = max(1 - blocks / self.total, 0.0)
        reached = self.common * (1 - missed**self.widely) + self.others * (1 - missed**self.shared)
        return float(min(reached, self.most))


NOTHING = Footprint(1, 0.0, 0.0, 1.0, 0.0, 1.0, 0, 0)


def footprint(
    sectors: NDArray[np.uint32], blocks: NDArray[np.int32], sampled: int, total: int, most: int, share: float = 1.0
) -> Footprint:
    """Of sectors, each with the number of the block that reached it; `sampled` of `total` blocks were run.

    share   of all lines, to which these sectors belong
    """
    if not sectors.size:
        return NOTHING
    pairs = np.unique(sectors.astype(np.uint64) << np.uint64(32) | blocks.astype(np.uint64))
    _, times = np.unique(pairs >> np.uint64(32), return_counts=True)
    each = pairs.size / sampled / share
    if sampled >= total:
        return Footprint(total, each, 0.0, 1.0, times.size / share, pairs.size / times.size, most, times.size)
    many = times[times >= COMMON]
    few = times[times < COMMON]
    met = float((few * (few - 1) / 2).sum())
    shared = 1 + 2 * met / max(float(few.sum()), 1.0) * (total - 1) / max(sampled - 1, 1)
    others = max(float(few.sum()) * total / sampled / shared, float(few.size)) / share
    widely = float(many.mean()) * total / sampled if many.size else 1.0
    return Footprint(total, each, many.size / share, widely, others, shared, most, times.size)
