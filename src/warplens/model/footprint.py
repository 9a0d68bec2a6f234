"""How many different sectors a grid reaches, from some of its blocks.  F5.

Two blocks that reach the same sector show how many share one.  If m of B blocks reach each sector, then of n blocks
drawn at random two reach it (m - 1) (n - 1) / (B - 1) / 2 times as often as one does; and all blocks together reach as
many different sectors as they reach sectors, divided by m.  Sectors that several of the sampled blocks share are so
common that all of them have been seen: they are counted, not estimated.  A buffer has no more sectors than its size.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

COMMON = 4  # of the sampled blocks, from which on a sector counts as common


@dataclass(frozen=True)
class Footprint:
    """Of one buffer, for loads or for stores.

    total      blocks of the grid;  each: different sectors of one block, on average;  accesses: all of one block
    common     sectors that are shared widely;  widely: by how many blocks each
    others     different sectors besides, of the whole grid;  shared: by how many blocks each
    most       sectors that there are;  seen: that the sampled blocks reach
    apart      how many blocks lie between two that share one of the others, in the middle of all such pairs
    uses       of each of those that are shared widely: by how many blocks
    """

    total: int
    each: float
    common: float
    widely: float
    others: float
    shared: float
    most: int
    seen: int
    apart: float = 0.0
    accesses: float = 0.0
    uses: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def of(self, blocks: float) -> float:
        """Different sectors that so many blocks reach, as if drawn at random."""
        missed = max(1 - blocks / self.total, 0.0)  # share of the grid
        reached = self.common * (1 - missed**self.widely) + self.others * (1 - missed**self.shared)
        return float(min(reached, self.most))

    def forgotten(self, blocks: float) -> Footprint:
        """As if what is not used again within so many blocks had to be fetched anew: it has been evicted since."""
        others, shared = self.others, self.shared
        if self.apart > blocks:
            others, shared = others * shared, 1.0
        kept = self.uses * blocks >= self.total
        each = self.common / max(kept.size, 1)
        again = float(self.uses[~kept].sum()) * each
        touched, others = others * shared + again, others + again
        return replace(
            self, common=float(kept.sum()) * each, widely=float(self.uses[kept].mean()) if kept.any() else 1.0,
            others=others, shared=touched / others if others else 1.0, most=self.most + int(touched),
        )  # fmt: skip


NOTHING = Footprint(1, 0.0, 0.0, 1.0, 0.0, 1.0, 0, 0)


def footprint(
    sectors: NDArray[np.uint32], blocks: NDArray[np.int64], sampled: int, total: int, most: int, share: float = 1.0
) -> Footprint:
    """Of sectors, each with the number in the grid of the block that reached it; `sampled` of `total` blocks were run.

    share   of all lines, to which these sectors belong
    """
    if not sectors.size:
        return NOTHING
    pairs = np.sort(sectors.astype(np.uint64) << np.uint64(32) | blocks.astype(np.uint64))
    pairs = pairs[np.diff(pairs, prepend=~pairs[:1]) != 0]  # ten times as fast as np.unique, which hashes
    places = pairs >> np.uint64(32)
    _, times = np.unique(places, return_counts=True)
    again = np.flatnonzero(places[1:] == places[:-1])
    apart = float(np.median(pairs[again + 1] - pairs[again])) if again.size else 0.0
    each, accesses = pairs.size / sampled / share, sectors.size / sampled / share
    if sampled >= total:
        shared = pairs.size / times.size
        return Footprint(total, each, 0.0, 1.0, times.size / share, shared, most, times.size, apart, accesses)
    many = times[times >= COMMON]
    few = times[times < COMMON]
    met = float((few * (few - 1) / 2).sum())
    shared = 1 + 2 * met / max(float(few.sum()), 1.0) * (total - 1) / max(sampled - 1, 1)
    others = max(float(few.sum()) * total / sampled / shared, float(few.size)) / share
    widely = float(many.mean()) * total / sampled if many.size else 1.0
    uses = many * total / sampled
    return Footprint(total, each, many.size / share, widely, others, shared, most, times.size, apart, accesses, uses)
