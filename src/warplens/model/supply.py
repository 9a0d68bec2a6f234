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

from warplens.counters.opcodes import width
from warplens.machine import Machine
from warplens.model import places as p
from warplens.model.atomic_units import places_reached
from warplens.model.by_warp import ByWarp, sectors_of
from warplens.model.chosen import Chosen
from warplens.model.footprint import Footprint, footprint
from warplens.model.machine_code import kind_of
from warplens.model.stored import ATOMIC, STORE, Stored, stored
from warplens.model.write_back import Evicted, write_back
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
        widths = np.array([width(i) // 8 for i in program.instructions], np.int64)
        seen = sectors_of(streams, kinds, widths, ENOUGH)
        sampled, total = len(streams.blocks), trace.launch.blocks
        numbers = np.array(streams.blocks, np.int64)[seen.blocks]
        lows = np.array([(low >> 5) & 0xFFFFFFFF for low, _ in buffers], np.int64)
        highs = np.array([((high + 31) >> 5) & 0xFFFFFFFF for _, high in buffers], np.int64)
        at_once = min(chosen.active * chosen.resident, total)
        count = -(-total // at_once)
        steps = [min(total, (wave + 1) * at_once) for wave in range(min(count, 64))]
        latency, weight = np.zeros((len(buffers), len(steps))), np.zeros((len(buffers), len(steps)))
        reads: list[Footprint] = []
        writes: list[Footprint] = []
        parts: list[Stored] = []
        for low, high in zip(lows, highs, strict=True):
            here = (seen.sectors >= low) & (seen.sectors < high)
            for found, which in ((reads, seen.kinds != STORE), (writes, seen.kinds >= STORE)):
                mine = here & which
                wide = 1 if found is reads else 0  # DRAM is read 64 bytes at a time
                most = int(high - low) >> wide
                found.append(footprint(seen.sectors[mine] >> wide, numbers[mine], sampled, total, most, seen.share))
            lines = footprint(seen.sectors[mine] >> 2, numbers[mine], sampled, total, most >> 2, seen.share)
            parts.append(stored(seen, here, lines.of(total)))
        written = write_back(reads, writes, parts, total, machine)
        evicted = Evicted.of(reads, writes, total, machine)
        reads = [f.forgotten(evicted.kept, evicted.lost) for f in reads]
        reached_places, heaviest = places_reached(streams, kinds == ATOMIC, total, np.sort(lows))
        reached = sum(2 * f.of(total) for f in reads)
        read = written.filled
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
        return Supply(
            lows, highs, latency, weight, written.stores, written.fills, read, written.sectors, reached,
            reached_places, heaviest,
        )  # fmt: skip

    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self.lows, self.highs, self.latency, self.weight, self.stores, self.fills


def _reads_or_stores(kind: int) -> int:
    if kind in (p.ATOMIC, p.REDUCE):
        return ATOMIC
    if kind in (p.LOAD, p.COPY):
        return 1
    return STORE if kind == p.STORE else 0
