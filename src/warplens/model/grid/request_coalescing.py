"""L2 request coalescing: concurrent requests of several SMs for one sector are merged, up to four.

This is the L2 request coalescer of Nsight Compute's charts.  Of what 132 blocks read in lockstep 26 % arrive at L2,
however often they read it and wherever it comes from, of what 32 blocks read 31 %, 16 63 %, and of two both (`table
of`, `rounds` of measurements/h200/joined.csv); of tiles that 12 blocks share 53 to 63 %, that 24 share 42 to 50 %
(`steps`).

Boxes that several SMs fetch are merged sooner: L2 gives each SM 30 bytes a cycle alone, 56 where two fetch the same, 75
to 82 where 4 to 132 do (`shared` of measurements/h100/bulk_copies.csv).

Requests after the reply are not merged.  Blocks that have waited for 32 lines of their own are so far apart that 35 %
of the common requests arrive (`table after 32`); where several blocks of an SM do other work in between, 70 to 73 % of
the requests of 24 do, in short launches and in long ones (`steps ... 512 between`).
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.machine import Microarchitecture
from warplens.model.grid.sector_footprint import SectorFootprint
from warplens.simc import compiled


class MergeSettings(NamedTuple):
    """Cycles: together: within which requests are merged;  drift, most_apart: by which blocks drift apart, per cycle
    since the launch, and at most."""

    together: float
    drift: float
    most_apart: float


def coalesced_requests(
    pieces: SectorFootprint, at_once: int, active: int, units: Microarchitecture, groups: float = 1.0,
    boxes: bool = False,
) -> float:  # fmt: skip
    """Requests for a piece of 64 bytes that are merged into one if all concurrent blocks run in lockstep.

    groups   in which blocks use a piece, one after the other;  boxes: whether bulk copies fetch it
    """
    different = pieces.of_consecutive(at_once)
    blocks = pieces.each * at_once / different / groups if different else 1.0
    requesters = 1.0 if boxes else units.merge_requesters
    return min(1 + max(min(blocks, active) - 1, 0.0) / requesters, units.merge_most_requests)


@compiled
def arrival_share(group, apart, since, settings):  # type: ignore[no-untyped-def]
    """Share of the requests that arrive at L2, so many cycles after the launch began.

    group   requests merged in lockstep;  apart: distance in progress between blocks (UseTimes.drift of neighbours.py)
    settings   MergeSettings
    """
    together = settings.together
    spread = max(together, max(min(settings.drift * since, settings.most_apart), apart * since))
    return 1.0 / (1.0 + (group - 1.0) * together / spread)
