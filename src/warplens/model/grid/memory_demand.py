"""Memory demand: what a grid asks of L2 and DRAM, whatever L2 holds when the launch begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplens.machine import Machine, Microarchitecture
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
from warplens.model.grid.l2_contents import RangeUse
from warplens.model.grid.neighbours import use_times
from warplens.model.grid.request_coalescing import coalesced_requests
from warplens.model.grid.write_back import LINE, READ, SECTOR, TWO_HALVES, WRITTEN, Evicted, atomic_share
from warplens.model.layout import Kind


class Sharing(NamedTuple):
    """own, keys, group, drift of MemorySupply, by buffer."""

    own: NDArray[np.float64]
    keys: NDArray[np.float64]
    group: NDArray[np.float64]
    drift: NDArray[np.float64]


@dataclass(frozen=True)
class MemoryDemand:
    """Memory demand of a grid of `blocks`, of which `concurrent` run at the same time on `active` SMs; by buffer, but
    for the last two.

    uses           as the next launch's L2Contents have them
    of_units       SMs with as many blocks as this one per L2 atomic unit (atomic_units.py)
    first          by instruction: share of its loads that no other block has touched before (first_touch.py)
    """

    blocks: int
    concurrent: int
    active: int
    extents: BufferExtents
    uses: tuple[RangeUse, ...]
    footprints: BufferFootprints
    sharing: Sharing
    evicted: Evicted
    of_units: float
    first: NDArray[np.float64]

    @staticmethod
    def of(grid: RecordedGrid, machine: Machine, buffers: Buffers) -> MemoryDemand:
        extents, accesses, total = BufferExtents.of(buffers), SampledAccesses.of(grid), grid.blocks
        footprints = buffer_footprints(accesses, extents)
        return MemoryDemand(
            blocks=total,
            concurrent=grid.concurrent,
            active=grid.chosen.active,
            extents=extents,
            uses=buffer_uses(accesses, buffers, footprints, machine),
            footprints=footprints,
            sharing=sharing_of(accesses, extents, footprints, machine.microarchitecture),
            evicted=Evicted.of(*footprints, total, machine),
            of_units=total / grid.chosen.of_blocks / busy_atomic_units(grid, machine, extents.lows),
            first=first_touches(grid, machine.microarchitecture.waited_share),
        )


def buffer_uses(
    accesses: SampledAccesses, buffers: Buffers, footprints: BufferFootprints, machine: Machine
) -> tuple[RangeUse, ...]:
    """By buffer: the range between the first and the last sector that the recorded blocks reach, with as much beyond
    as may lie between those of two of them."""
    extents, total, found = BufferExtents.of(buffers), accesses.grid.blocks, []
    sampled = min(len(accesses.grid.sample.blocks), total)
    for number, ((start, end), low, high) in enumerate(zip(buffers, extents.lows, extents.highs, strict=True)):
        read, write = footprints.reads[number], footprints.writes[number]
        inside = accesses.within(low, high)
        sectors = np.concatenate([accesses.sample.sectors[inside.sample], accesses.near.sectors[inside.near]])
        if not sectors.size:
            found.append(RangeUse(start, start, 0, 0, 0, 0))
            continue
        first, last = int(sectors.min()) - int(low), int(sectors.max()) + 1 - int(low)
        beyond = 0 if sampled == total else (last - first) // max(sampled, 1)
        found.append(RangeUse(
            low=max(start + SECTOR * (first - beyond), start),
            high=min(start + SECTOR * (last + beyond), end),
            read=round(READ * read.of(total)),
            written=round(WRITTEN * write.of(total)),
            places=round(_places(footprints, number, total, machine)),
            dirty=round(WRITTEN * write.of(total)),
        ))  # fmt: skip
    return tuple(found)


def _places(footprints: BufferFootprints, number: int, total: int, machine: Machine) -> float:
    """Bytes of L2 that a grid occupies with a buffer.  Of m uses of a line one at least comes from the partition that
    is not its home in 1 - 2^-m of all cases, and leaves a copy there."""
    read, lines = footprints.reads[number], footprints.lines[number]
    write, change = footprints.writes[number], footprints.dirty[number]
    second = float(machine.speeds.halves == TWO_HALVES)
    beside = second * (1 - atomic_share(lines, write, change))
    stored_only = max(WRITTEN * write.of(total) - READ * read.of(total), 0.0)
    copies = second * (1 - change.atomic) * machine.microarchitecture.stored_copies
    return float(LINE * lines.of(total) * (1 + beside * (1 - 2**-lines.uses)) + stored_only * (1 + copies))


def sharing_of(
    accesses: SampledAccesses, extents: BufferExtents, footprints: BufferFootprints, units: Microarchitecture
) -> Sharing:
    """How many SMs load the same lines, and how far apart in time."""
    grid, sample, (loads, _) = accesses.grid, accesses.sample, accesses.loads()
    active, number, kinds = grid.chosen.active, len(footprints.lines), set(grid.code.kind.tolist())
    boxes = Kind.BULK_LOAD in kinds and Kind.ASYNC_COPY not in kinds
    found = Sharing(np.ones(number), np.zeros(number), np.ones(number), np.zeros(number))
    for n, lines in enumerate(footprints.lines):
        sms = active * (1 - (1 - 1 / active) ** lines.uses)  # SMs that have so many blocks
        found.own[n] = min(1 / max(sms, 1.0), 1.0)
        if sms <= 2:
            continue
        inside = accesses.within(extents.lows[n], extents.highs[n]).sample & loads
        times = use_times(sample.sectors[inside] >> np.uint32(2), sample.blocks[inside], sample.progress[inside])
        found.drift[n] = times.drift
        found.group[n] = coalesced_requests(footprints.reads[n], grid.concurrent, active, units, times.groups, boxes)
        if not times.in_step:
            found.keys[n] = lines.of(grid.concurrent) / active
    return found


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
