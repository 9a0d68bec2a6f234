"""What passes through L2, how long it stays, and what DRAM writes.  F5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.machine import Machine
from warplens.model.footprint import Footprint
from warplens.model.stored import WHOLE, Stored

READ, WRITTEN = 64, 32  # bytes that DRAM moves at a time
SECTOR = 32
LINE = 128
FILLS_FROM = 0.5  # of the room for parts: so soon they are filled up (of words all over 8 MiB a tenth, over 16 MiB all)
PARTS_GO = 0.6  # of sectors that were stored in part: DRAM gets them sooner


@dataclass(frozen=True)
class Evicted:
    """How many blocks may pass until L2 has lost what it held: kept, lost (Footprint.forgotten), and those that are
    stored in part."""

    kept: float
    lost: float
    parts: float

    @staticmethod
    def of(reads: Sequence[Footprint], writes: Sequence[Footprint], total: int, machine: Machine) -> Evicted:
        speeds = machine.speeds
        shares = (speeds.kept_share, speeds.lost_share, speeds.parts_share)
        return Evicted(*(blocks_that_move(share * machine.l2_bytes, reads, writes, total) for share in shares))


def bytes_moved(reads: Sequence[Footprint], writes: Sequence[Footprint], blocks: float) -> float:
    """That so many blocks move through L2; what is read and written stands there once."""
    return sum(max(r.of(blocks) * READ, w.of(blocks) * WRITTEN) for r, w in zip(reads, writes, strict=True))


def blocks_that_move(size: float, reads: Sequence[Footprint], writes: Sequence[Footprint], total: int) -> float:
    """How many blocks move so many bytes through L2; all of them where they do not."""
    if bytes_moved(reads, writes, total) <= size:
        return float(total)
    low, high = 0.0, float(total)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if bytes_moved(reads, writes, middle) < size else (low, middle)
    return high


@dataclass(frozen=True)
class WriteBack:
    """stores, fills: of each stored sector of a buffer, what DRAM writes and what it reads to fill it up, in sectors
    among others;  sectors, filled: that it writes and reads for the whole grid"""

    stores: NDArray[np.float64]
    fills: NDArray[np.float64]
    sectors: float
    filled: float


def write_back(
    reads: Sequence[Footprint], writes: Sequence[Footprint], parts: Sequence[Stored], total: int, machine: Machine
) -> WriteBack:
    """What L2 holds at the end is the last that went through it: so much of that as was stored DRAM need not write."""
    speeds, evicted = machine.speeds, Evicted.of(reads, writes, total, machine)
    number, many = len(writes), bytes_moved(reads, writes, total) > FILLS_FROM * speeds.parts_share * machine.l2_bytes
    wrote, filled, stores, fills = (np.zeros(number) for _ in range(4))
    for n, (f, part) in enumerate(zip(writes, parts, strict=True)):
        if not f.seen:
            continue
        together = f.forgotten(evicted.parts, evicted.parts).of(total)
        others = f.each * total / max(together, 1.0) / part.blocks  # how many times as many blocks complete a part
        partial = part.partial if part.bytes * max(others, 1.0) < WHOLE else 0.0
        whole = f.forgotten(evicted.lost, evicted.lost).of(total)  # what is written has no copy in the other half of L2
        wrote[n] = partial * together + (1 - partial) * whole
        filled[n] = partial * whole if many else 0.0
    all_stored = float(wrote.sum())
    passed = sum(max(2 * f.of(total), w) for f, w in zip(reads, wrote, strict=True))
    last = (speeds.kept_share + speeds.lost_share) / 2  # of L2 that the last traffic of all kinds fills
    share = min(speeds.dirty_share, last * all_stored / max(passed, 1.0))
    lines = sum(part.lines for part in parts)  # which the part that is held has whole, however little was stored there
    held = min(share * machine.l2_bytes / LINE / max(lines, 1.0), 1.0)
    stays = held * (1 - PARTS_GO * np.array([part.partial for part in parts]))  # share of what was stored
    left = float((wrote * (1 - stays)).sum())
    both = min(sum(2 * f.of(total) for f in reads) / max(all_stored, 1.0), 1.0)  # as much is read as written
    for n, (f, part) in enumerate(zip(writes, parts, strict=True)):
        if f.seen and all_stored:
            asked = f.accesses * total
            known = min(2 * reads[n].of(total) / wrote[n], 1.0)  # share that was in L2 already, because it was read
            costs = known * speeds.held_read_cost + (1 - known) * speeds.held_cost
            # What goes to DRAM, and the turns between reading and writing, or the way of all of it through L2.
            work = max((1 - stays[n]) * (1 + speeds.turn_cost * both), 1 - stays[n] * (1 - costs))
            stores[n] = wrote[n] / asked * work * (1 + part.lone * (speeds.lone_sector - 1))
            fills[n] = filled[n] / asked * (1 + part.lone * (2 * speeds.lone_half - 1))
    return WriteBack(stores, fills, left, float(filled.sum()))
