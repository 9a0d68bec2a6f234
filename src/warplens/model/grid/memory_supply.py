"""Memory supply: which share of an SM's lines comes from L2 and which from DRAM.

L2 starts empty.  DRAM moves each distinct piece of 64 bytes once, as long as L2 can hold what the grid moves between
two uses of a piece; the number of distinct pieces is estimated from sampled blocks (sector_footprint.py).  So a load
hits L2 as often as an earlier block has reached its line.  Stores go to DRAM as well, except those that L2 still holds
at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.machine import Machine
from warplens.machine.parameter import assumed
from warplens.model.grid.l2_contents import L2Start
from warplens.model.grid.memory_demand import MemoryDemand
from warplens.model.grid.sector_footprint import SectorFootprint
from warplens.model.grid.write_back import write_back

WAVES = assumed(64, "waves of blocks", "effort: that are told apart; later ones are like the last of these")


class SupplyArrays(NamedTuple):
    """What the SM simulation reads of MemorySupply: its fields by buffer; `first` is by instruction."""

    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    latency: NDArray[np.float64]
    weight: NDArray[np.float64]
    own: NDArray[np.float64]
    stores: NDArray[np.float64]
    fills: NDArray[np.float64]
    first: NDArray[np.float64]
    whole: NDArray[np.float64]
    keys: NDArray[np.float64]
    group: NDArray[np.float64]
    drift: NDArray[np.float64]


@dataclass(frozen=True)
class MemorySupply:
    """Where lines come from: share of lines that miss L2, and DRAM cost of a sector, by buffer and wave, and of each
    stored sector.

    own            share of an SM among those that load a line of a buffer
    keys           where blocks do not run in lockstep: lines that a wave of them loads, per SM (l2_share.holds_line)
    group, drift   requests coalesced into one to L2 in lockstep; distance between blocks (request_coalescing.py)
    writing        share of the store work that is DRAM's; the rest is L2's
    read, stored   sectors that DRAM moves for the whole grid
    filled, both   of those read, what fills partial sectors; share of the others that both L2 partitions request
    fills          of each stored sector: sectors that DRAM reads to fill the partially written ones
    whole          share of the stored sectors that a block writes completely, sooner or later (l2_partial_sectors.py)
    of_units       SMs with as many blocks as this one per L2 atomic unit (atomic_units.py)
    first          by instruction: share of its loads that no other block has touched before (first_touch.py)
    """

    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    latency: NDArray[np.float64]
    weight: NDArray[np.float64]
    own: NDArray[np.float64]
    stores: NDArray[np.float64]
    fills: NDArray[np.float64]
    whole: NDArray[np.float64]
    keys: NDArray[np.float64]
    group: NDArray[np.float64]
    drift: NDArray[np.float64]
    read: float
    filled: float
    both: float
    stored: float
    writing: float
    of_units: float
    first: NDArray[np.float64]

    @staticmethod
    def of(demand: MemoryDemand, machine: Machine, start: L2Start | None = None) -> MemorySupply:
        """start   what L2 holds; None for an empty one, as under ncu --cache-control all"""
        total, footprints, sharing = demand.blocks, demand.footprints, demand.sharing
        evicted = demand.evicted
        reads = [evicted.dram_footprint(*each) for each in zip(*footprints, strict=True)]
        missing = missing_shares(footprints.reads, reads, total, start)
        written = write_back(footprints.reads, footprints.writes, footprints.dirty, evicted, total, machine, start)
        latency, weight = (missing[:, None] * shares for shares in dram_shares(reads, total, demand.concurrent))
        return MemorySupply(
            lows=demand.extents.lows,
            highs=demand.extents.highs,
            latency=latency,
            weight=weight,
            own=sharing.own,
            stores=written.stores,
            fills=written.fills,
            whole=1 - np.array([dirty.partial for dirty in footprints.dirty]),
            keys=sharing.keys,
            group=sharing.group,
            drift=sharing.drift,
            read=sum(
                (2 * f.of(total) * share for f, share in zip(reads, missing.tolist(), strict=True) if f.seen),
                start=written.filled,
            ),
            filled=written.filled,
            both=_both_partitions_share(reads) if demand.active > 1 else 0.0,
            stored=written.sectors,
            writing=written.writing,
            of_units=demand.of_units,
            first=demand.first,
        )

    def with_evictions(self, pieces: float, filled: float, written: float) -> MemorySupply:
        """With pieces of 64 bytes that DRAM reads again after early evictions, partial sectors that it fills, and
        sectors that it writes again."""
        return replace(
            self, read=self.read + 2 * pieces + filled, filled=self.filled + filled, stored=self.stored + written
        )

    def arrays(self) -> SupplyArrays:
        return SupplyArrays(*(getattr(self, name) for name in SupplyArrays._fields))


def missing_shares(
    reads: Sequence[SectorFootprint], fetched: Sequence[SectorFootprint], total: int, start: L2Start | None
) -> NDArray[np.float64]:
    """By buffer: of what DRAM would supply if L2 were empty, the share that it does supply.  Pieces that L2 holds at
    the start are not read once less.

    reads, fetched   pieces that the grid reads, and that DRAM supplies, some again after L2 has evicted them
    """
    missing = np.ones(len(reads))
    for n, (read, fetch) in enumerate(zip(reads, fetched, strict=True)):
        if start is not None and read.seen:
            missing[n] -= start.resident[n] * min(read.of(total) / max(fetch.of(total), 1.0), 1.0)
    return missing


def dram_shares(
    reads: Sequence[SectorFootprint], total: int, concurrent: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(latency, weight) of MemorySupply, by buffer and wave of blocks."""
    waves = -(-total // concurrent)
    steps = [min(total, (wave + 1) * concurrent) for wave in range(min(waves, WAVES))]
    latency, weight = np.zeros((len(reads), len(steps))), np.zeros((len(reads), len(steps)))
    for n, pieces in enumerate(reads):
        if not pieces.seen:
            continue
        of_wave, known, before = pieces.of(concurrent), 0.0, 0
        for wave, blocks in enumerate(steps):
            reached = pieces.of(blocks)
            requested = pieces.each * (blocks - before)
            latency[n, wave] = min(1.0, (reached - known) / of_wave) if of_wave else 0.0
            weight[n, wave] = min(1.0, (reached - known) / requested) if requested else 0.0
            known, before = reached, blocks
    return latency, weight


def _both_partitions_share(reads: Sequence[SectorFootprint]) -> float:
    """Share of all these sectors that blocks of both L2 partitions reach."""
    every = sum(f.common + f.others for f in reads)
    return sum(f.by_both * (f.common + f.others) for f in reads) / every if every else 0.0
