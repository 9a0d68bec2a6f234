"""How many different sectors a grid reaches, from some of its blocks.  F5.

From how many of the sampled blocks each sector was reached, the number for any number of blocks is estimated as the
number of species in a region is (Chao 1987; Colwell et al. 2012, J. Plant Ecology 5, equations 4 and 9 for incidence
data): sectors that one block alone reaches grow with the grid, those that all share do not.  A buffer has no more
sectors than its size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Footprint:
    """Of one buffer, for loads or for stores.

    blocks     sampled;  seen: different sectors in these;  each: in one block, on average
    once, twice     sectors that one, that two of the blocks reached;  most: sectors that there are
    """

    blocks: int
    seen: int
    each: float
    once: int
    twice: int
    most: int

    def of(self, blocks: float) -> float:
        """Different sectors that so many blocks reach."""
        n = self.blocks
        if not self.seen or blocks <= 0:
            return 0.0
        if n == 1:
            return min(self.seen * blocks, self.most)
        if blocks <= n:
            # Between one block and all of them: straight, which is right at both ends.
            return min(self.each + (self.seen - self.each) * (blocks - 1) / (n - 1), self.most)
        if not self.twice:  # nothing says that blocks share what others have not reached
            return min(self.seen - self.once + self.once * blocks / n, self.most)
        unseen = (n - 1) / n * self.once**2 / (2 * self.twice)
        if unseen <= 0:
            return min(float(self.seen), self.most)
        share = self.once / (n * unseen + self.once)
        return float(min(self.seen + unseen * -np.expm1((blocks - n) * np.log1p(-share)), self.most))


NOTHING = Footprint(1, 0, 0.0, 0, 0, 0)


def footprint(sectors: NDArray[np.uint32], blocks: NDArray[np.int32], sampled: int, most: int) -> Footprint:
    """Of sectors, each with the block that reached it."""
    if not sectors.size:
        return NOTHING
    pairs = np.unique(sectors.astype(np.uint64) << np.uint64(32) | blocks.astype(np.uint64))
    _, times = np.unique(pairs >> np.uint64(32), return_counts=True)
    return Footprint(
        sampled, times.size, pairs.size / sampled, int((times == 1).sum()), int((times == 2).sum()), most
    )
