"""Grid sample: chooses blocks, and scales their counts to the whole grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np

from warplens.core.counts import ReachedSectors
from warplens.core.launch import Launch
from warplens.errors import UsageError

LEAST = 3  # the first, the last, and one in between
GOLDEN = (5**0.5 - 1) / 2  # fractional parts of its multiples are evenly spread for any count (golden-ratio sequence)


@dataclass(frozen=True)
class Sample:
    """Grid sample: the first and the last count once, those between are scaled to all but these.

    blocks   of the grid;  inner: chosen blocks between, in clusters: clusters
    cluster  blocks of a cluster: all of them run
    """

    blocks: int
    inner: tuple[int, ...]
    cluster: int = 1

    @property
    def size(self) -> int:
        """Blocks that run."""
        return (2 + len(self.inner)) * self.cluster

    def chunk(self, number: int) -> tuple[int, int]:
        """(first, count) of a chosen block or cluster, in the order in which blocks start."""
        return number * self.cluster, self.cluster

    @property
    def last(self) -> int:
        return self.blocks // self.cluster - 1

    def scaled(self, ends: Mapping[str, Any], inner: Mapping[str, Any]) -> dict[str, Any]:
        """The counts of the whole grid, to the nearest whole number; those of generic accesses by space."""
        weight = (self.last - 1) / len(self.inner)

        def whole(end: Any, between: Any) -> Any:
            if isinstance(end, Mapping):
                return {name: whole(end[name], between[name]) for name in end}
            if isinstance(end, ReachedSectors):
                return ReachedSectors(
                    *(whole(getattr(end, f.name), getattr(between, f.name)) for f in fields(ReachedSectors))
                )
            return end + np.rint(between * weight).astype(np.int64)

        return {name: whole(ends[name], inner[name]) for name in ends}


def sample_of(launch: Launch, wanted: int, cluster: int = 1) -> Sample | None:
    """`wanted` blocks, in whole clusters; None if the grid has no more.  UsageError for too few, or where blocks wait
    for each other.

    Stratified: between first and last, one block of each equal stratum, at varying offsets: equidistant blocks could
    all be in one column of a two-dimensional grid.
    """
    if wanted < LEAST:
        raise UsageError(f"a sample of {wanted} blocks: {LEAST} are needed, the first, the last and one between")
    if launch.cooperative:
        raise UsageError("blocks of a cooperative launch wait for each other: it cannot be sampled")
    units, chosen = launch.blocks // cluster, max(wanted // cluster, LEAST)
    if chosen >= units:
        return None
    count, between = chosen - 2, units - 2
    starts = [between * k // count for k in range(count + 1)]
    places = [1 + s + int((e - s) * (k * GOLDEN % 1)) for k, (s, e) in enumerate(pairwise(starts))]
    return Sample(launch.blocks, tuple(places), cluster)
