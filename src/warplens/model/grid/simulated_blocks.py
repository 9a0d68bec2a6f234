"""Simulated blocks: which blocks of a grid the model simulates or samples."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from warplens.core.counts import Trace
from warplens.counters.occupancy import Occupancy
from warplens.machine import Machine
from warplens.machine.parameter import assumed
from warplens.model.instruction.sm_resources import SmResources

ENOUGH = assumed(4_000_000, "warp instructions", "effort: to simulate, a second or less")
SEVERAL = assumed(600_000, "warp instructions", "effort: likewise, of more than one SM: a sixth of a second")
LEAST_WAVES = assumed(3, "waves of blocks", "effort: the first and the last one take longer")
FOOTPRINT_BLOCKS = assumed(2048, "blocks", "effort: of the footprint's sample")
FOOTPRINT_INSTRUCTIONS = assumed(4_000_000, "warp instructions", "effort: likewise")
# That the blocks of a sample reach; of more than a million some are taken.
FOOTPRINT_SECTORS = assumed(8_000_000, "sectors", "effort: likewise")
# That all blocks may reach where all are sampled.
ALL_SECTORS = assumed(40_000_000, "sectors", "effort: more would leave no memory for the rest")
LEAST_BLOCKS = assumed(8, "blocks", "effort: of a sample, at least")
PAIRS_BLOCKS = assumed(32, "blocks", "effort: if a block shares data with one in 60, some pairs of these do")
PAIRS_INSTRUCTIONS = assumed(32_000_000, "warp instructions", "effort: a quarter of a second of execution")
# Blocks that are resident on an SM at most, by those that start at once.
AT_ONCE = assumed(2, "factor", "31 of 16 were seen on an H200 (measurements/h200/seats.csv)")
# A warp this many times longer than the average may decide when the launch ends: its SM is simulated.
LONG = assumed(4, "factor", "effort: uneven loops of most kernels stay below, a search tree is at 100")
CENTRES = assumed(24, "blocks", "effort: sampled with all their neighbours")
CENTRES_INSTRUCTIONS = assumed(4_000_000, "warp instructions", "effort: of these")


UNEVEN = assumed(1.1, "factor", "effort: blocks of which the longest is no longer are dealt out like equal ones")
FEW_WAVES = assumed(8, "waves of blocks", "effort: after more of them all SMs end at about the same time")


@dataclass(frozen=True)
class SimulatedBlocks:
    """blocks   of one SM, in order;  of_blocks: all blocks of that SM

    other_sms   blocks of other SMs that are simulated as well
    sample      randomly drawn blocks, for the footprint only
    centres     blocks sampled with their neighbours in the grid, none where `sample` are all
    active      SMs that have a block;  resources: of an SM for blocks
    busy        of the time until the SM ends that ends last, the share in which the average SM has blocks; 0 where
                blocks are even, and this SM has as many as any
    effort      share of the usual number of blocks and sectors
    """

    blocks: tuple[int, ...]
    other_sms: tuple[tuple[int, ...], ...]
    sample: tuple[int, ...]
    centres: tuple[int, ...]
    of_blocks: int
    active: int
    resources: SmResources
    effort: float = 1.0
    busy: float = 0.0

    @property
    def resident(self) -> int:
        """Blocks of an SM that start at once."""
        return self.resources.resident

    @property
    def simulated(self) -> tuple[int, ...]:
        """Blocks of all simulated SMs."""
        return tuple(dict.fromkeys(self.blocks + sum(self.other_sms, ())))


def choose_blocks(trace: Trace, machine: Machine, occupancy: Occupancy, effort: float = 1.0) -> SimulatedBlocks:
    """effort: share of the usual sample, for predictions that only choose among versions"""
    total = trace.launch.blocks
    active = min(machine.multiprocessors, total)
    whole = -(-total // machine.multiprocessors)
    resident = min(occupancy.blocks, whole)
    each = max(int(trace.executed.sum()) / total, 1.0)
    count = whole
    if whole * each > ENOUGH * effort:
        usual = max(int(ENOUGH / each) // resident, 1)  # waves
        count = min(max(int(usual * effort), min(usual, LEAST_WAVES)) * resident, whole)
    longest = _longest_block(trace) if count == whole else None
    blocks, busy = _blocks_of_sm(total, active, count, longest, whole >= 2 * resident), 0.0
    if count == whole and resident < whole <= FEW_WAVES * resident and longest is None:
        blocks, busy = _last_sm(trace, active, resident) or (blocks, busy)
    pairs = min(PAIRS_BLOCKS, int(PAIRS_INSTRUCTIONS / each))
    wanted = max(int(FOOTPRINT_INSTRUCTIONS * effort / each), pairs, LEAST_BLOCKS)
    wanted = min(wanted, int(FOOTPRINT_BLOCKS * effort))
    sectors = int(trace.sectors.sum())
    few = FOOTPRINT_SECTORS * effort / max(sectors / total, 1.0)  # blocks
    sample = min(wanted, max(int(few), pairs, LEAST_BLOCKS))
    every = total <= wanted and sectors <= ALL_SECTORS
    more = tuple(range(total)) if every else random_blocks(total, min(sample, total))
    around = len(offsets(trace.launch.grid)) + 1
    most = min(CENTRES_INSTRUCTIONS * effort / each, few)
    centres = min(CENTRES, int(most / around)) if total > len(more) else 0
    other_sms = _blocks_of_other_sms(total, active, int(SEVERAL * effort / (whole * each))) if whole <= resident else ()
    places = min(max(occupancy.places, resident), AT_ONCE * resident, whole)
    room = SmResources(resident, places, occupancy.seats, machine.limits.sub_partitions)
    return SimulatedBlocks(blocks, other_sms, more, random_blocks(total, centres), whole, active, room, effort, busy)


Grid = tuple[int, int, int]


def offsets(grid: Grid) -> tuple[Grid, ...]:
    """Offsets of a block's neighbours along x, y, z: 2, 8 or 26, by the dimensions of the grid."""
    steps = [(-1, 0, 1) if size > 1 else (0,) for size in grid]
    return tuple((x, y, z) for z, y, x in product(*steps[::-1]) if (x, y, z) != (0, 0, 0))


def neighbourhoods(centres: Sequence[int], grid: Grid) -> tuple[int, ...]:
    """Numbers of these blocks and of all their neighbours, each once."""
    found = dict.fromkeys(centres)
    for x, y, z in offsets(grid):
        for number in centres:
            at = number % grid[0] + x, number // grid[0] % grid[1] + y, number // (grid[0] * grid[1]) + z
            if all(0 <= a < size for a, size in zip(at, grid, strict=True)):
                found[at[0] + grid[0] * (at[1] + grid[1] * at[2])] = None
    return tuple(found)


def _longest_block(trace: Trace) -> int | None:
    """The block of the longest warp, where that is far longer than the average."""
    average = trace.executed.sum() / (trace.launch.blocks * trace.launch.warps_per_block)
    longest = trace.longest
    return longest.block if longest and longest.instructions > LONG * average else None


def _blocks_of_sm(total: int, active: int, count: int, longest: int | None, anyone: bool) -> tuple[int, ...]:
    """The first `count` blocks of one SM, with the longest block of the grid in its turn, where one is given.

    anyone   as for _assigned_sm
    """
    blocks = [min(k * active + _assigned_sm(k, active, anyone), total - 1) for k in range(count)]
    if longest is not None:
        blocks[longest // active] = longest
    return tuple(blocks)


def _last_sm(trace: Trace, active: int, resident: int) -> tuple[tuple[int, ...], float] | None:
    """Blocks of the SM that ends last, and `busy`, where blocks are uneven: each goes to the first slot that is free,
    and takes as long as it has instructions."""
    looped = trace.block_instructions
    if not looped.size:
        return None
    instructions = looped + (trace.executed.sum() - looped.sum()) / looped.size
    if instructions.max() <= UNEVEN * instructions.mean():
        return None
    slots = [(0.0, slot) for slot in range(active * resident)]  # sorted, so a heap
    blocks: list[list[int]] = [[] for _ in range(active)]
    for number, size in enumerate(instructions.tolist()):
        end, slot = slots[0]
        heapq.heapreplace(slots, (end + size, slot))
        blocks[slot % active].append(number)
    ends = np.zeros(active)
    np.maximum.at(ends, [slot % active for _, slot in slots], [end for end, _ in slots])
    return tuple(blocks[int(ends.argmax())]), float(ends.mean() / ends.max())


def _blocks_of_other_sms(total: int, active: int, count: int) -> tuple[tuple[int, ...], ...]:
    """Blocks of `count` SMs except the first, all assigned from the start: the launch ends with the slowest, and
    short launches differ by their random DRAM latencies."""
    count = min(count, active)
    return tuple(tuple(range(n * active // count, total, active)) for n in range(1, count))


def _assigned_sm(number: int, active: int, anyone: bool) -> int:
    """Which of the SMs' next blocks is the `number`th of this one.  The first are dealt out in order; with many
    waves each goes to the first SM with a free slot, so that no SM has all blocks of one kind."""
    return (number * 0x9E3779B1 >> 7) % active if anyone else 0


def random_blocks(total: int, count: int) -> tuple[int, ...]:
    """`count` pseudo-random blocks, the same in every run."""
    found: dict[int, None] = {}
    state = 0
    while len(found) < count:
        state = (state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        found[(mixed ^ mixed >> 31) % total] = None
    return tuple(found)
