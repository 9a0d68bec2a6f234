"""Where the lines that a multiprocessor asks for come from: L2, or DRAM.  F5.

With nothing in L2 at first, DRAM moves every different piece of 64 bytes once, as long as L2 can hold what the grid
moves from one use of a piece to the next: how many there are is estimated from some blocks (footprint.py).  So a load
finds its line in L2 as often as an earlier block has reached it.  What is stored goes to DRAM as well, but for the part
that L2 still holds at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.machine import Machine
from warplens.model import places as p
from warplens.model.atomic_units import places_reached
from warplens.model.by_warp import ByWarp, sectors_of
from warplens.model.chosen import Chosen
from warplens.model.footprint import Footprint, footprint
from warplens.model.machine_code import kind_of
from warplens.program import Program
from warplens.trace import Trace

ENOUGH = 1_000_000  # sectors to look at
Buffers = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Supply:
    """Where lines come from: the share of its lines that come from DRAM and of a sector that they cost there, by buffer
    and wave, and of each stored sector.

    read, stored   sectors that DRAM moves for the whole grid;  reached: different ones that loads reach
    fills      of each stored sector: what DRAM reads, in sectors, to fill up those of which a part is stored
    atomic_places, atomic_heaviest   what atomics reach (atomic_units.py), and the share of them that go to one of these
    """

    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    latency: NDArray[np.float64]
    weight: NDArray[np.float64]
    stores: NDArray[np.float64]
    fills: NDArray[np.float64]
    read: float
    stored: float
    reached: float
    atomic_places: float
    atomic_heaviest: float

    @staticmethod
    def of(
        program: Program, streams: ByWarp, chosen: Chosen, machine: Machine, trace: Trace, buffers: Buffers
    ) -> Supply:
        kinds = np.array([_reads_or_stores(kind_of(i)) for i in program.instructions], np.int64)
        sectors, blocks, stored, share = sectors_of(streams, kinds, ENOUGH)
        sampled, total = len(streams.blocks), trace.launch.blocks
        numbers = np.array(streams.blocks, np.int64)[blocks]
        lows = np.array([(low >> 5) & 0xFFFFFFFF for low, _ in buffers], np.int64)
        highs = np.array([((high + 31) >> 5) & 0xFFFFFFFF for _, high in buffers], np.int64)
        at_once = min(chosen.active * chosen.resident, total)
        count = -(-total // at_once)
        steps = [min(total, (wave + 1) * at_once) for wave in range(min(count, 64))]
        latency, weight = np.zeros((len(buffers), len(steps))), np.zeros((len(buffers), len(steps)))
        stores = np.zeros(len(buffers))
        reads: list[Footprint] = []
        writes: list[Footprint] = []
        for low, high in zip(lows, highs, strict=True):
            here = (sectors >= low) & (sectors < high)
            for found, which in ((reads, stored != 2), (writes, stored >= 2)):
                mine = here & which
                wide = 1 if found is reads else 0  # DRAM is read 64 bytes at a time
                most = int(high - low) >> wide
                found.append(footprint(sectors[mine] >> wide, numbers[mine], sampled, total, most, share))
        keeps = machine.speeds.capacity_share * machine.l2_bytes
        if _bytes(reads, writes, total) > keeps:
            within = _blocks_that_move(keeps, reads, writes, total)
            reads = [f.forgotten(within) for f in reads]
        reached_places, heaviest = places_reached(streams, kinds == 3, total, np.sort(lows))
        all_stored = sum(f.of(total) for f in writes)
        reached = sum(2 * f.of(total) for f in reads)
        # What L2 holds at the end is the last that went through it: so much of that was stored.
        mix = all_stored / max(all_stored + reached, 1.0)
        dram_stored = max(all_stored - min(machine.speeds.dirty_share * machine.l2_bytes, keeps * mix) / 32, 0.0)
        read = 0.0
        for n, f in enumerate(reads):
            if f.seen:
                known = 0.0
                of_wave = f.of(at_once)
                for wave, blocks_then in enumerate(steps):
                    now = f.of(blocks_then)
                    new = now - known
                    asked = f.each * (blocks_then - (steps[wave - 1] if wave else 0))
                    latency[n, wave] = min(1.0, new / of_wave) if of_wave else 0.0
                    weight[n, wave] = min(1.0, new / asked) if asked else 0.0
                    known = now
                read += 2 * f.of(total)
        for n, f in enumerate(writes):
            if f.seen and all_stored:
                stores[n] = min(1.0, f.of(total) / (f.accesses * total))
        fills = np.zeros(len(buffers))
        return Supply(
            lows, highs, latency, weight, stores, fills, read, dram_stored, reached, reached_places, heaviest
        )  # fmt: skip

    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self.lows, self.highs, self.latency, self.weight, self.stores, self.fills


def _bytes(reads: Sequence[Footprint], writes: Sequence[Footprint], blocks: float) -> float:
    """That so many blocks move through L2."""
    return sum(f.of(blocks) * size for side, size in ((reads, 64), (writes, 32)) for f in side)


def _blocks_that_move(size: float, reads: Sequence[Footprint], writes: Sequence[Footprint], total: int) -> float:
    """How many blocks move so many bytes through L2."""
    low, high = 0.0, float(total)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _bytes(reads, writes, middle) < size else (low, middle)
    return high


def _reads_or_stores(kind: int) -> int:
    if kind in (p.ATOMIC, p.REDUCE):
        return 3
    if kind in (p.LOAD, p.COPY):
        return 1
    return 2 if kind == p.STORE else 0
