"""L2 eviction and write-back: what passes through L2, how long it stays, what DRAM writes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.machine import Machine
from warplens.machine.parameter import assumed, measured
from warplens.model.grid.dirty_sectors import WHOLE, DirtySectors
from warplens.model.grid.l2_contents import L2Start
from warplens.model.grid.sector_footprint import WINDOWS, SectorFootprint

# Of a DRAM access: the unit in which the model counts pieces, on any GPU.
READ = measured(64, "bytes", "measurements/h200/calibration.csv, `read sectors`")
WRITTEN = measured(32, "bytes", "measurements/h200/calibration.csv, `read sectors`")
SECTOR = 32
LINE = 128
# Of a sector that the stores of many blocks must cover.
NEARLY = assumed(0.9, "share", "their number is an estimate: none would count as covered otherwise")
TWO_HALVES = 2


@dataclass(frozen=True)
class Evicted:
    """Reuse distances, in blocks, after which L2 has evicted a line (SectorFootprint.miss_footprint).

    kept           reuse within so many blocks hits
    twice, often   equidistant reuse misses after so many, with two uses, or many: frequently reused lines are protected
    stored, parts  likewise of written sectors, and of partially written ones
    """

    kept: float
    twice: float
    often: float
    stored: float
    parts: float
    halves: int

    @staticmethod
    def of(
        reads: Sequence[SectorFootprint],
        lines: Sequence[SectorFootprint],
        writes: Sequence[SectorFootprint],
        changes: Sequence[DirtySectors],
        total: int,
        machine: Machine,
    ) -> Evicted:
        """lines: footprints of the lines that are read"""
        speeds, units, windows = machine.speeds, machine.microarchitecture, _windows(total)
        room = _occupied_bytes(lines, writes, changes, windows, machine) / machine.l2_bytes / speeds.kept_share
        stored, parts = (
            blocks_for_bytes(share * machine.l2_bytes, reads, writes, total)
            for share in (speeds.lost_share, speeds.parts_share)
        )
        kept, twice, often = (
            float(np.interp(size, room, windows)) if room[-1] > size else float(total)
            for size in (1.0, units.twice, units.often)
        )
        return Evicted(kept, twice, often, stored, parts, int(speeds.halves))

    def dram_footprint(
        self, read: SectorFootprint, lines: SectorFootprint, write: SectorFootprint, change: DirtySectors
    ) -> SectorFootprint:
        """Footprint that DRAM is read for;  lines: of its lines;  write, change: of the stores to the same buffer"""
        lost = self.often - (self.often - self.twice) * min(2 / read.uses, 1.0)
        beside = (self.halves - 1) * (1 - atomic_share(lines, write, change))
        return read.dram_footprint(lines, self.kept, max(lost, self.kept), beside)


def _windows(total: int) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.geomspace(0.5, total, WINDOWS)])


def atomic_share(read: SectorFootprint, write: SectorFootprint, change: DirtySectors) -> float:
    """Share of the uses that are atomics, which go to the line's home partition."""
    return min(change.atomic * write.accesses / read.accesses, 1.0) if read.accesses else 0.0


def _occupied_bytes(
    lines: Sequence[SectorFootprint],
    writes: Sequence[SectorFootprint],
    changes: Sequence[DirtySectors],
    windows: NDArray[np.float64],
    machine: Machine,
) -> NDArray[np.float64]:
    """L2 bytes that so many blocks occupy.  With two partitions a line has its home in one, where atomics are done;
    the other may hold a copy of what is read, and of most of what is stored."""
    second, room = float(machine.speeds.halves == TWO_HALVES), np.zeros(windows.size)
    for r, w, change in zip(lines, writes, changes, strict=True):
        beside = second * (1 - atomic_share(r, w, change))
        read = LINE * (r.working_set(windows) + beside * r.partition_copies(windows))
        stored = WRITTEN * (1 + second * (1 - change.atomic) * machine.microarchitecture.stored_copies)
        room += np.maximum(read, w.working_set(windows) * stored)
    return room


def bytes_moved(reads: Sequence[SectorFootprint], writes: Sequence[SectorFootprint], blocks: float) -> float:
    """Bytes that so many blocks move through L2; data that is read and written counts once."""
    return sum(max(r.of(blocks) * READ, w.of(blocks) * WRITTEN) for r, w in zip(reads, writes, strict=True))


def blocks_for_bytes(
    size: float, reads: Sequence[SectorFootprint], writes: Sequence[SectorFootprint], total: int
) -> float:
    """Blocks that move so many bytes through L2; all of them where they move less."""
    if bytes_moved(reads, writes, total) <= size:
        return float(total)
    low, high = 0.0, float(total)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if bytes_moved(reads, writes, middle) < size else (low, middle)
    return high


@dataclass(frozen=True)
class WriteBack:
    """stores, fills: per stored sector of a buffer, what DRAM writes and what it reads to fill it, in non-lone
    sectors sectors, filled: written and read for the whole grid
    writing   share of this work that is DRAM's"""

    stores: NDArray[np.float64]
    fills: NDArray[np.float64]
    sectors: float
    filled: float
    writing: float


def write_back(
    reads: Sequence[SectorFootprint],
    writes: Sequence[SectorFootprint],
    parts: Sequence[DirtySectors],
    evicted: Evicted,
    total: int,
    machine: Machine,
    start: L2Start | None = None,
) -> WriteBack:
    """At the end L2 holds what passed through it last: DRAM does not write the dirty part of that.

    start   what L2 holds when the launch begins; None: nothing but the dirty data that a GPU always has
    """
    speeds, units = machine.speeds, machine.microarchitecture
    number, moved = len(writes), bytes_moved(reads, writes, total)
    many = moved > units.fills_from * speeds.parts_share * machine.l2_bytes
    wrote, last, filled, stores, fills = (np.zeros(number) for _ in range(5))
    for n, (f, part) in enumerate(zip(writes, parts, strict=True)):
        if not f.seen:
            continue
        together = f.miss_footprint(evicted.parts, evicted.parts).of(total)
        partial = 0.0 if _is_completed(f, part, evicted, total) else part.partial
        whole = f.miss_footprint(evicted.stored, evicted.stored).of(total)
        wrote[n] = partial * together + (1 - partial) * whole
        last[n] = partial * together + (1 - partial) * min(whole, f.of(total))
        filled[n] = partial * whole * (1 - start.resident[n] if start else 1.0) if many else 0.0
    held = last * resident_share(reads, writes, parts, evicted, total, machine)
    before = start.dirty / SECTOR if start else _always_dirty(moved, machine)
    all_stored = float(wrote.sum())
    all_work = by_dram = 0.0
    both = min(sum(2 * f.of(total) for f in reads) / max(all_stored, 1.0), 1.0)  # 1 if as much is read as written
    for n, (f, part) in enumerate(zip(writes, parts, strict=True)):
        if f.seen and all_stored:
            asked = f.accesses * total
            stays = max(held[n] / wrote[n] - before / all_stored, 0.0)  # older dirty data is written instead
            # DRAM writes and read-write turnarounds, or the transfer of all of it through L2.
            work = max((1 - stays) * (1 + speeds.turn_cost * both), 1 - stays * (1 - speeds.held_cost))
            all_work += wrote[n] * work
            by_dram += wrote[n] * (1 - stays) * (1 + speeds.turn_cost * both)
            stores[n] = wrote[n] / asked * work * (1 + part.lone * (speeds.lone_sector - 1))
            fills[n] = filled[n] / asked * (1 + part.lone * (2 * speeds.lone_half - 1))
    left = all_stored - float(held.sum()) + before
    return WriteBack(stores, fills, left, float(filled.sum()), by_dram / all_work if all_work else 0.0)


def _always_dirty(moved: float, machine: Machine) -> float:
    """Sectors stored before a launch that DRAM is given once so many bytes have been moved, even if the launch before
    has stored nothing."""
    units = machine.microarchitecture
    leaves = np.interp(moved / machine.l2_bytes, (units.dirty_before_stays, units.dirty_before_leaves), (0.0, 1.0))
    return units.dirty_before * machine.l2_bytes / SECTOR * float(leaves)


def _is_completed(write: SectorFootprint, part: DirtySectors, evicted: Evicted, total: int) -> bool:
    """Whether several blocks store the parts of a sector, and all of it before it is evicted."""
    together = write.miss_footprint(evicted.parts, evicted.parts).of(total)
    others = write.each * total / max(together, 1.0) / part.blocks  # ratio of blocks that complete a part
    return part.bytes * max(others, 1.0) >= NEARLY * WHOLE


def resident_share(
    reads: Sequence[SectorFootprint],
    writes: Sequence[SectorFootprint],
    parts: Sequence[DirtySectors],
    evicted: Evicted,
    total: int,
    machine: Machine,
) -> NDArray[np.float64]:
    """Share of the stored sectors of each buffer that L2 still holds: those of the last blocks, as many as fit.

    With two L2 partitions, what is read from both occupies twice the space, and half of what is stored does.  A line of
    which little was stored is held as a whole.
    """
    speeds, units, second = machine.speeds, machine.microarchitecture, float(machine.speeds.halves == TWO_HALVES)
    windows = _windows(total)
    room, shares, dirty = np.zeros(windows.size), [], np.zeros(windows.size)
    for r, w, part in zip(reads, writes, parts, strict=True):
        recent, most = w.working_set(windows), max(w.of(total), 1.0)
        lines = max(part.lines * LINE / SECTOR / most, 1.0)
        stored = recent * lines * SECTOR
        room += np.maximum(r.working_set(windows) * READ * (1 + second * r.by_both), stored * (1 + second / 2))
        by_each = -math.expm1(-units.store_evicts * w.accesses * total / most)
        go = 1 - part.partial * (by_each if _is_completed(w, part, evicted, total) else units.partial_evicted)
        dirty += stored * go
        shares.append(np.minimum(recent / most, 1.0) * go)
    full = speeds.lost_share * machine.l2_bytes
    at = np.interp(full, room, windows) if room[-1] > full else total
    most_dirty = speeds.dirty_share * machine.l2_bytes
    fits = min(1.0, most_dirty / max(float(np.interp(at, windows, dirty)), 1.0))
    return np.array([fits * float(np.interp(at, windows, share)) for share in shares])
