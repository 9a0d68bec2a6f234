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

from warplens.machine import Machine, Microarchitecture
from warplens.machine.parameter import assumed
from warplens.model.grid.atomic_units import AtomicSpeeds, AtomicWork, atomic_table, busy_units
from warplens.model.grid.buffer_footprints import (
    BufferExtents,
    BufferFootprints,
    Buffers,
    RecordedGrid,
    SampledAccesses,
    buffer_footprints,
)
from warplens.model.grid.first_touch import first_touch_shares
from warplens.model.grid.neighbours import progress_distance
from warplens.model.grid.request_coalescing import coalesced_requests
from warplens.model.grid.sector_footprint import SectorFootprint
from warplens.model.grid.write_back import Evicted, write_back

APART = assumed(0.5, "of the distance in a random order", "blocks that are further apart do not run in lockstep")
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
    def of(grid: RecordedGrid, machine: Machine, buffers: Buffers) -> MemorySupply:
        extents, accesses, total = BufferExtents.of(buffers), SampledAccesses.of(grid), grid.blocks
        footprints = buffer_footprints(accesses, extents)
        sharing = sharing_of(accesses, extents, footprints, machine.microarchitecture)
        evicted = Evicted.of(*footprints, total, machine)
        written = write_back(footprints.reads, footprints.writes, footprints.dirty, evicted, total, machine)
        reads = [evicted.dram_footprint(*each) for each in zip(*footprints, strict=True)]
        latency, weight = dram_shares(reads, grid)
        return MemorySupply(
            lows=extents.lows,
            highs=extents.highs,
            latency=latency,
            weight=weight,
            own=sharing.own,
            stores=written.stores,
            fills=written.fills,
            whole=1 - np.array([dirty.partial for dirty in footprints.dirty]),
            keys=sharing.keys,
            group=sharing.group,
            drift=sharing.drift,
            read=sum((2 * f.of(total) for f in reads if f.seen), start=written.filled),
            filled=written.filled,
            both=_both_partitions_share(reads) if grid.chosen.active > 1 else 0.0,
            stored=written.sectors,
            writing=written.writing,
            of_units=total / grid.chosen.of_blocks / busy_atomic_units(grid, machine, extents.lows),
            first=first_touches(grid, machine.microarchitecture.waited_share),
        )

    def with_evictions(self, pieces: float, filled: float, written: float) -> MemorySupply:
        """With pieces of 64 bytes that DRAM reads again after early evictions, partial sectors that it fills, and
        sectors that it writes again."""
        return replace(
            self, read=self.read + 2 * pieces + filled, filled=self.filled + filled, stored=self.stored + written
        )

    def arrays(self) -> SupplyArrays:
        return SupplyArrays(*(getattr(self, name) for name in SupplyArrays._fields))


class Sharing(NamedTuple):
    """own, keys, group, drift of MemorySupply, by buffer."""

    own: NDArray[np.float64]
    keys: NDArray[np.float64]
    group: NDArray[np.float64]
    drift: NDArray[np.float64]


def sharing_of(
    accesses: SampledAccesses, extents: BufferExtents, footprints: BufferFootprints, units: Microarchitecture
) -> Sharing:
    """How many SMs load the same lines, and how far apart in time."""
    grid, sample, (loads, _) = accesses.grid, accesses.sample, accesses.loads()
    active, number = grid.chosen.active, len(footprints.lines)
    found = Sharing(np.ones(number), np.zeros(number), np.ones(number), np.zeros(number))
    for n, lines in enumerate(footprints.lines):
        sms = active * (1 - (1 - 1 / active) ** lines.uses)  # SMs that have so many blocks
        found.own[n] = min(1 / max(sms, 1.0), 1.0)
        if sms <= 2:
            continue
        inside = accesses.within(extents.lows[n], extents.highs[n]).sample & loads
        distance, found.drift[n] = progress_distance(
            sample.sectors[inside] >> np.uint32(2), sample.blocks[inside], sample.progress[inside]
        )
        found.group[n] = coalesced_requests(footprints.reads[n], grid.concurrent, active, units)
        if distance > APART:
            found.keys[n] = lines.of(grid.concurrent) / active
    return found


def dram_shares(
    reads: Sequence[SectorFootprint], grid: RecordedGrid
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(latency, weight) of MemorySupply, by buffer and wave of blocks."""
    total, concurrent = grid.blocks, grid.concurrent
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


def busy_atomic_units(grid: RecordedGrid, machine: Machine, lows: NDArray[np.int64]) -> float:
    speeds, chosen = machine.speeds, grid.chosen
    per_port = speeds.atomic_units / 2 / machine.multiprocessors
    cycles = AtomicSpeeds(
        word_cycles=speeds.atomic_word_cycles,
        sector_cycles=speeds.atomic_sector_cycles,
        float_cycles=speeds.atomic_float_cycles,
        packet_cycles=speeds.l2_atomic_piece_cycles * per_port,
        lone_cycles=speeds.l2_atomic_lone_cycles * per_port,
        reply_cycles=speeds.l2_atomic_reply_cycles * per_port,
    )
    work = AtomicWork(grid.sample, atomic_table(grid.program), np.sort(lows), grid.blocks)
    return busy_units(work, chosen.active, chosen.resident, cycles, machine)


def first_touches(grid: RecordedGrid, waited_share: float) -> NDArray[np.float64]:
    """By instruction (first_touch.py)."""
    centres = grid.chosen.centres
    streams, blocks = (grid.neighbourhoods, centres) if centres else (grid.sample, grid.sample.blocks)
    return first_touch_shares(streams, blocks, grid.concurrent, grid.code, waited_share)


def _both_partitions_share(reads: Sequence[SectorFootprint]) -> float:
    """Share of all these sectors that blocks of both L2 partitions reach."""
    every = sum(f.common + f.others for f in reads)
    return sum(f.by_both * (f.common + f.others) for f in reads) / every if every else 0.0
