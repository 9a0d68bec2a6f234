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

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.counters.opcodes import width
from warplens.machine import Machine
from warplens.machine.parameter import assumed
from warplens.model import layout as p
from warplens.model.grid.atomic_units import FLOATS, WORDS, units_at_work
from warplens.model.grid.dirty_sectors import ATOMIC, STORE, DirtySectors, stored
from warplens.model.grid.first_touch import asked_first
from warplens.model.grid.neighbours import apart, sharers
from warplens.model.grid.request_coalescing import group_of
from warplens.model.grid.sector_footprint import SectorFootprint, footprint
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.grid.write_back import Evicted, write_back
from warplens.model.instruction.instruction_table import InstructionTable, adds_floats, kind_of
from warplens.model.trace.warp_streams import WarpStreams, sectors_of

ENOUGH = assumed(1_000_000, "sectors", "effort: to analyse")
APART = assumed(0.5, "of the distance in a random order", "blocks that are further apart do not run in lockstep")
Buffers = Sequence[tuple[int, int]]
Sides = tuple[NDArray[np.bool_], ...]  # sectors of randomly drawn blocks, and of neighbours


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
    keys           where blocks do not run in lockstep: lines that a wave of them loads, per SM (l2_share.keeps)
    group, drift   requests coalesced into one to L2 in lockstep; distance between blocks (request_coalescing.py)
    writing        share of the store work that is DRAM's; the rest is L2's
    read, stored   sectors that DRAM moves for the whole grid;  reached: distinct ones that loads reach
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
    reached: float
    of_units: float
    first: NDArray[np.float64]

    @staticmethod
    def of(
        program: Program,
        code: InstructionTable,
        streams: WarpStreams,
        beside: WarpStreams,
        chosen: SimulatedBlocks,
        machine: Machine,
        trace: Trace,
        buffers: Buffers,
    ) -> MemorySupply:
        """streams, beside: of randomly drawn blocks, and of chosen.centres with their neighbours"""
        kinds = np.array([_reads_or_stores(kind_of(i)) for i in program.instructions], np.int64)
        widths = np.array([width(i) // 8 for i in program.instructions], np.int64)
        seen, near = (sectors_of(some, kinds, widths, ENOUGH) for some in (streams, beside))
        total, grid = trace.launch.blocks, trace.launch.grid
        numbers, near_numbers = (
            np.array(some.blocks, np.int64)[found.blocks] for some, found in ((streams, seen), (beside, near))
        )

        def reached_by(inside: Sides, which: Sides, shift: int, most: int) -> SectorFootprint:
            """Footprint of the sectors in both masks; `shift`: log2 of the sectors that count as one."""
            mine, theirs = (a & b for a, b in zip(inside, which, strict=True))
            by = sharers(near.sectors[theirs] >> np.uint32(shift), near_numbers[theirs], chosen.centres, grid)
            return footprint(
                seen.sectors[mine] >> np.uint32(shift), numbers[mine], len(streams.blocks), total, most >> shift,
                seen.share, by, grid,
            )  # fmt: skip

        lows = np.array([(low >> 5) & 0xFFFFFFFF for low, _ in buffers], np.int64)
        highs = np.array([((high + 31) >> 5) & 0xFFFFFFFF for _, high in buffers], np.int64)
        at_once = min(chosen.active * chosen.resident, total)
        count = -(-total // at_once)
        steps = [min(total, (wave + 1) * at_once) for wave in range(min(count, 64))]
        latency, weight = np.zeros((len(buffers), len(steps))), np.zeros((len(buffers), len(steps)))
        reads: list[SectorFootprint] = []
        read_lines: list[SectorFootprint] = []
        writes: list[SectorFootprint] = []
        parts: list[DirtySectors] = []
        loads, stores = ((seen.kinds != STORE, near.kinds != STORE), (seen.kinds >= STORE, near.kinds >= STORE))
        sample = near if chosen.centres else seen
        asked = np.isin(near_numbers, chosen.centres) if chosen.centres else np.ones(seen.sectors.size, bool)
        for low, high in zip(lows, highs, strict=True):
            inside = tuple((found.sectors >= low) & (found.sectors < high) for found in (seen, near))
            most = int(high - low)
            reads.append(reached_by(inside, loads, 1, most))  # DRAM reads 64 bytes at a time
            read_lines.append(reached_by(inside, loads, 2, most))
            writes.append(reached_by(inside, stores, 0, most))
            lines = reached_by(inside, stores, 2, most).of(total)
            parts.append(stored(sample, inside[int(sample is near)], lines, asked))
        own, keys = np.ones(len(reads)), np.zeros(len(reads))
        group, drift = np.ones(len(reads)), np.zeros(len(reads))
        for n, (f, low, high) in enumerate(zip(read_lines, lows, highs, strict=True)):
            askers = chosen.active * (1 - (1 - 1 / chosen.active) ** f.uses)  # SMs that have so many blocks
            own[n] = min(1 / max(askers, 1.0), 1.0)
            if askers <= 2:
                continue
            mine = (seen.sectors >= low) & (seen.sectors < high) & (seen.kinds != STORE)
            by, drift[n] = apart(seen.sectors[mine] >> np.uint32(2), seen.blocks[mine], seen.when[mine])
            group[n] = group_of(reads[n], at_once, chosen.active, machine.microarchitecture)
            if by > APART:
                keys[n] = f.of(at_once) / chosen.active
        evicted = Evicted.of(reads, read_lines, writes, parts, total, machine)
        written = write_back(reads, writes, parts, evicted, total, machine)
        reads = [evicted.left_of(*each) for each in zip(reads, read_lines, writes, parts, strict=True)]
        whole = 1 - np.array([part.partial for part in parts])
        speeds = machine.speeds
        each = speeds.l2_atomic_piece_cycles, speeds.l2_atomic_lone_cycles, speeds.l2_atomic_reply_cycles
        ports = tuple(cycles * speeds.atomic_units / 2 / machine.multiprocessors for cycles in each)
        units = units_at_work(
            streams, _atomics(program, widths), np.sort(lows), (chosen.active, chosen.resident), total,
            int(speeds.atomic_units), int(speeds.atomics_in_flight),
            (speeds.atomic_word_cycles, speeds.atomic_sector_cycles, speeds.atomic_float_cycles, *ports),
        )  # fmt: skip
        reached = sum(2 * f.of(total) for f in reads)
        read = written.filled
        for n, f in enumerate(reads):
            if f.seen:
                known = 0.0
                of_wave = f.of(at_once)
                for wave, blocks_then in enumerate(steps):
                    now = f.of(blocks_then)
                    new = now - known
                    wanted = f.each * (blocks_then - (steps[wave - 1] if wave else 0))
                    latency[n, wave] = min(1.0, new / of_wave) if of_wave else 0.0
                    weight[n, wave] = min(1.0, new / wanted) if wanted else 0.0
                    known = now
                read += 2 * f.of(total)
        code_of = code.rows, code.firsts, code.lasts
        first = (
            asked_first(beside, chosen.centres, at_once, *code_of) if chosen.centres
            else asked_first(streams, streams.blocks, at_once, *code_of)
        )  # fmt: skip
        return MemorySupply(
            lows, highs, latency, weight, own, written.stores, written.fills, whole, keys, group, drift,
            read, written.filled,
            _by_both(reads) if chosen.active > 1 else 0.0, written.sectors, written.writing, reached,
            total / chosen.of_blocks / units, first,
        )  # fmt: skip

    def and_again(self, pieces: float, filled: float, written: float) -> MemorySupply:
        """With pieces of 64 bytes that DRAM reads again after early evictions, partial sectors that it fills, and
        sectors that it writes again."""
        return replace(
            self, read=self.read + 2 * pieces + filled, filled=self.filled + filled, stored=self.stored + written
        )

    def arrays(self) -> SupplyArrays:
        return SupplyArrays(*(getattr(self, name) for name in SupplyArrays._fields))


def _by_both(reads: Sequence[SectorFootprint]) -> float:
    """Share of all these sectors that blocks of both L2 partitions reach."""
    every = sum(f.common + f.others for f in reads)
    return sum(f.by_both * (f.common + f.others) for f in reads) / every if every else 0.0


def _atomics(program: Program, widths: NDArray[np.int64]) -> NDArray[np.int64]:
    """By instruction: the columns that atomic_units.py reads."""
    kinds = [kind_of(i) for i in program.instructions]
    changes = [
        0 if kind not in (p.ATOMIC, p.REDUCE) else FLOATS if adds_floats(i) else WORDS
        for kind, i in zip(kinds, program.instructions, strict=True)
    ]
    return np.stack([np.array(changes, np.int64), widths, np.array([kind == p.ATOMIC for kind in kinds], np.int64)], 1)


def _reads_or_stores(kind: int) -> int:
    if kind in (p.ATOMIC, p.REDUCE):
        return ATOMIC
    if kind in (p.LOAD, p.COPY):
        return 1
    return STORE if kind == p.STORE else 0
