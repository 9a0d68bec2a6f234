"""Buffer footprints: the sectors of each buffer that a grid reads and writes, estimated from its recorded blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.counters.opcodes import width
from warplens.machine.parameter import assumed
from warplens.model.grid.dirty_sectors import DirtySectors, SectorAccess, dirty_sectors
from warplens.model.grid.neighbours import sharers
from warplens.model.grid.reuse_distance import BlockOrder
from warplens.model.grid.sector_footprint import BlockSample, SectorFootprint, SectorUses, footprint
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.instruction.instruction_table import InstructionTable, kind_of
from warplens.model.layout import Kind
from warplens.model.trace.warp_streams import ReachedSectors, WarpStreams, sectors_of

BULK_BYTES = 1 << 20  # more than any copy moves; defined: CUDA programming guide, an mbarrier's bytes

ENOUGH = assumed(1_000_000, "sectors", "effort: to analyse")
Buffers = Sequence[tuple[int, int]]


class RecordedGrid(NamedTuple):
    """sample: traces of randomly drawn blocks;  neighbourhoods: of chosen.centres with their neighbours."""

    program: Program
    code: InstructionTable
    trace: Trace
    chosen: SimulatedBlocks
    sample: WarpStreams
    neighbourhoods: WarpStreams

    @property
    def blocks(self) -> int:
        return self.trace.launch.blocks

    @property
    def concurrent(self) -> int:
        """Blocks that run at the same time."""
        return min(self.chosen.active * self.chosen.resident, self.blocks)

    @property
    def order(self) -> BlockOrder:
        """One block of each SM in step, or all if all are resident from the start."""
        return BlockOrder(self.blocks, self.blocks if self.concurrent == self.blocks else self.chosen.active)


class BufferExtents(NamedTuple):
    """Sectors of each buffer, [low, high)."""

    lows: NDArray[np.int64]
    highs: NDArray[np.int64]

    @classmethod
    def of(cls, buffers: Buffers) -> BufferExtents:
        lows = np.array([(low >> 5) & 0xFFFFFFFF for low, _ in buffers], np.int64)
        highs = np.array([((high + 31) >> 5) & 0xFFFFFFFF for _, high in buffers], np.int64)
        return cls(lows, highs)


class Masks(NamedTuple):
    """Which sectors of SampledAccesses.sample, and of .near."""

    sample: NDArray[np.bool_]
    near: NDArray[np.bool_]


class SampledAccesses(NamedTuple):
    """Sectors that the recorded blocks reach: randomly drawn ones, and centres with their neighbours.

    sample_ranks   of the block of each entry among the sampled ones, by number
    near_blocks    number in the grid of the block of each entry
    """

    grid: RecordedGrid
    sample: ReachedSectors
    near: ReachedSectors
    sample_ranks: NDArray[np.int64]
    near_blocks: NDArray[np.int64]

    @classmethod
    def of(cls, grid: RecordedGrid) -> SampledAccesses:
        kinds = np.array([sector_access(kind_of(i)) for i in grid.program.instructions], np.int64)
        widths = lane_widths(grid.program)
        in_step = grid.order.generations == 1
        most = int(ENOUGH * grid.chosen.effort)
        sample, near = (sectors_of(some, kinds, widths, most, in_step) for some in (grid.sample, grid.neighbourhoods))
        ranks = np.argsort(np.argsort(np.array(grid.sample.blocks, np.int64)))
        return cls(
            grid, sample, near, ranks[sample.blocks],
            np.array(grid.neighbourhoods.blocks, np.int64)[near.blocks],
        )  # fmt: skip

    def loads(self) -> Masks:
        """Loads and atomics."""
        return Masks(self.sample.kinds != SectorAccess.STORE, self.near.kinds != SectorAccess.STORE)

    def stores(self) -> Masks:
        """Stores and atomics."""
        return Masks(self.sample.kinds >= SectorAccess.STORE, self.near.kinds >= SectorAccess.STORE)

    def within(self, low: int, high: int) -> Masks:
        return Masks(*((some.sectors >= low) & (some.sectors < high) for some in (self.sample, self.near)))

    def footprint(self, masks: Masks, size: int, shift: int) -> SectorFootprint:
        """Footprint of the masked sectors in a buffer of `size` sectors;  shift: log2 of those that count as one."""
        grid, dimensions = self.grid, self.grid.trace.launch.grid
        shared_by = sharers(
            self.near.sectors[masks.near] >> np.uint32(shift), self.near_blocks[masks.near], grid.chosen.centres,
            dimensions,
        )  # fmt: skip
        uses = SectorUses(
            self.sample.sectors[masks.sample] >> np.uint32(shift), self.sample_ranks[masks.sample],
            self.sample.progress[masks.sample],
        )  # fmt: skip
        numbers = np.sort(np.array(grid.sample.blocks, np.int64))
        return footprint(
            uses, BlockSample(numbers, grid.order, self.sample.share, dimensions), size >> shift, shared_by
        )


class BufferFootprints(NamedTuple):
    """By buffer.

    reads, lines    pieces of 64 bytes, and lines, that loads and atomics reach
    writes, dirty   sectors that stores and atomics reach, and what these leave in L2
    """

    reads: list[SectorFootprint]
    lines: list[SectorFootprint]
    writes: list[SectorFootprint]
    dirty: list[DirtySectors]


def buffer_footprints(accesses: SampledAccesses, extents: BufferExtents) -> BufferFootprints:
    chosen, loads, stores = accesses.grid.chosen, accesses.loads(), accesses.stores()
    found = BufferFootprints([], [], [], [])
    with_neighbours = bool(chosen.centres)
    observed = accesses.near if with_neighbours else accesses.sample
    centre = np.ones(observed.sectors.size, bool)
    if with_neighbours:
        centre = np.isin(accesses.near_blocks, chosen.centres)
    for low, high in zip(extents.lows, extents.highs, strict=True):
        inside, size = accesses.within(low, high), int(high - low)
        read = Masks(*(a & b for a, b in zip(inside, loads, strict=True)))
        written = Masks(*(a & b for a, b in zip(inside, stores, strict=True)))
        found.reads.append(accesses.footprint(read, size, 1))  # DRAM reads 64 bytes at a time
        found.lines.append(accesses.footprint(read, size, 2))
        found.writes.append(accesses.footprint(written, size, 0))
        lines = accesses.footprint(written, size, 2).of(accesses.grid.blocks)
        found.dirty.append(dirty_sectors(observed, inside.near if with_neighbours else inside.sample, lines, centre))
    return found


def sector_access(kind: Kind) -> SectorAccess:
    if kind in (Kind.ATOMIC, Kind.REDUCTION):
        return SectorAccess.ATOMIC
    if kind in (Kind.LOAD, Kind.ASYNC_COPY, Kind.BULK_LOAD):
        return SectorAccess.LOAD
    return SectorAccess.STORE if kind in (Kind.STORE, Kind.BULK_STORE) else SectorAccess.NONE


def lane_widths(program: Program) -> NDArray[np.int64]:
    """By instruction: bytes that each lane moves, at most of those that a bulk store moves, whose sectors are whole."""
    return np.array(
        [BULK_BYTES if kind_of(i) == Kind.BULK_STORE else width(i) // 8 for i in program.instructions], np.int64
    )
