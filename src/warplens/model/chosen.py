"""Which blocks of a grid the model looks at.  F5."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.counters.occupancy import Occupancy
from warplens.machine import Machine
from warplens.trace import Trace

ENOUGH = 4_000_000  # warp instructions to simulate: a second or less
FOOTPRINT_BLOCKS = 2048
FOOTPRINT_INSTRUCTIONS = 4_000_000
LEAST_BLOCKS = 8
PAIRS_BLOCKS = 32  # of a grid in which a block shares what it reads with one in 60, some pairs of these share it
PAIRS_INSTRUCTIONS = 32_000_000  # a quarter of a second of execution


@dataclass(frozen=True)
class Chosen:
    """blocks   of one multiprocessor, in order;  more: others, for the footprint alone;  whole: of_blocks all of them

    active      multiprocessors that have a block;  resident: blocks of one at a time
    """

    blocks: tuple[int, ...]
    more: tuple[int, ...]
    of_blocks: int
    active: int
    resident: int


def choose_blocks(trace: Trace, machine: Machine, occupancy: Occupancy) -> Chosen:
    total = trace.launch.blocks
    active = min(machine.multiprocessors, total)
    whole = -(-total // machine.multiprocessors)
    resident = min(occupancy.blocks, whole)
    each = max(int(trace.executed.sum()) / total, 1.0)
    count = whole
    if whole * each > ENOUGH:
        count = min(max(int(ENOUGH / each) // resident, 1) * resident, whole)
    blocks = tuple(min(k * active + _turn(k, active, whole >= 2 * resident), total - 1) for k in range(count))
    pairs = min(PAIRS_BLOCKS, int(PAIRS_INSTRUCTIONS / each))
    wanted = min(max(int(FOOTPRINT_INSTRUCTIONS / each), pairs, LEAST_BLOCKS), FOOTPRINT_BLOCKS)
    more = tuple(range(total)) if total <= wanted else scattered(total, wanted)
    return Chosen(blocks, more, whole, active, resident)


def _turn(number: int, active: int, anyone: bool) -> int:
    """Which of the multiprocessors' next blocks is the `number`th of this one.  The first are dealt out in order; where
    many follow, each goes to whoever is done first, so that no multiprocessor has all blocks of one kind."""
    return (number * 0x9E3779B1 >> 7) % active if anyone else 0


def scattered(total: int, count: int) -> tuple[int, ...]:
    """So many of the blocks, as if drawn at random: every run draws the same."""
    found: dict[int, None] = {}
    state = 0
    while len(found) < count:
        state = (state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        found[(mixed ^ mixed >> 31) % total] = None
    return tuple(found)
