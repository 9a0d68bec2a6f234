"""Inter-block synchronisation: cycles that blocks wait for earlier blocks or for a grid barrier.

A loop that only loads a word which other blocks change is a spin wait.  Its iteration count means nothing: it depends
on the order in which the emulator runs blocks.  The cost of waits follows from which block waits for which, and some of
the first blocks show that.

Chained scan: a block publishes only after its predecessor has.  Each link costs `hand_over` cycles, from one block's
store to the next one's (`chain of blocks` of the calibration: 511 from 132 to 4,224 blocks), plus a fence if there is
one in between.

Grid barrier: all blocks wait for all.  With a block on each SM it takes `grid_barrier` cycles more than with one block
alone (`meeting of 132` of the calibration: 856).  More than 250 blocks that poll one word delay each other, by 4 to 6.5
cycles each (1,056 of them take 3,900 to 7,000 cycles): not modelled.

Decoupled look-back: each block first publishes its own value, then reads those of its predecessors, w at a time, until
it finds one that has finished (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016).
Of W blocks that start together those done after n steps are w n more than after n - 1, so that n steps suffice
for w n^2 / 2 blocks: sqrt(2 W / w) steps of `look_back` cycles for each wave (`look back` of the calibration).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.counters.opcodes import width
from warplens.machine import Speeds
from warplens.machine.parameter import assumed
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.trace.warp_streams import ReachedSectors, WarpStreams, sectors_of
from warplens.sass.block_queue import PUBLISHES, waiting_loads

WAITING = "its blocks wait for each other, and a prediction runs only some of them: measure it on a GPU"
FIRST_BLOCKS = assumed(48, "blocks", "effort: to analyse")
ENOUGH = assumed(200_000, "sectors", "effort: to analyse")


class FlagAccess(IntEnum):
    """Kinds of accesses to words by which blocks synchronise."""

    POLL = 1
    PUBLISH = 2


@dataclass(frozen=True)
class InterBlockSync:
    """Extra cycles: of all waits for earlier blocks, and of the grid barriers."""

    chain_cycles: float = 0.0
    grid_barrier_cycles: float = 0.0


def inter_block_sync(
    program: Program,
    trace: Trace,
    chosen: SimulatedBlocks,
    speeds: Speeds,
    recorded: Callable[[tuple[int, ...]], WarpStreams],
) -> InterBlockSync:
    loads, total = waiting_loads(program), trace.launch.blocks
    if not loads or total < 2:
        return InterBlockSync()
    kinds = np.zeros(len(program.instructions), np.int64)
    kinds[[i.index for i in program.instructions if i.base in PUBLISHES]] = FlagAccess.PUBLISH
    kinds[loads] = FlagAccess.POLL

    count = min(total, FIRST_BLOCKS)
    seen = sectors_of(recorded(tuple(range(count))), kinds, np.full(kinds.size, 4), ENOUGH)
    links = longest_chain(seen, count)
    if links == 0:
        return InterBlockSync(grid_barrier_cycles=_grid_barrier_cycles(_poll_counts(seen), speeds))
    if not _publishes_first(seen, count):
        fence = speeds.latency_fence + speeds.latency_l2  # it waits for what the block has stored (sm/scheduler.py)
        link = speeds.hand_over_cycles + _has_fence(program, loads) * fence
        return InterBlockSync(total * links / max(count - 1, 1) * link)
    words = sum(trace.bytes[i] / (width(program.instructions[i]) / 8) for i in loads)
    at_once = max(words / max(sum(trace.requests[i] for i in loads), 1), 1.0)
    together = min(chosen.active * chosen.resident, total)
    return InterBlockSync(total / together * math.sqrt(2.0 * together / at_once) * speeds.look_back_cycles)


def _poll_counts(seen: ReachedSectors) -> NDArray[np.float64]:
    """Polls of each block."""
    return np.bincount(seen.blocks[seen.kinds == FlagAccess.POLL]) / seen.share


def _grid_barrier_cycles(looks: NDArray[np.float64], speeds: Speeds) -> float:
    """In the emulator a block polls twice at each grid barrier, first without success, but once at the last one:
    that extra poll is in the time of the simulated blocks."""
    if not looks.size:
        return 0.0
    return math.ceil(float(looks.mean()) / 2) * max(speeds.grid_barrier_cycles - speeds.latency_l2, 0.0)


def _has_fence(program: Program, loads: list[int]) -> bool:
    """Whether a fence lies between the spin wait and the block's own publishing store."""
    behind = [i for i in program.instructions if i.index > max(loads) and (i.base in PUBLISHES or i.base == "MEMBAR")]
    return bool(behind) and behind[0].base == "MEMBAR"


def longest_chain(seen: ReachedSectors, count: int) -> int:
    """Length of the longest chain of waits among `count` blocks; 0 where most wait for one word, which is a grid
    barrier."""
    waited = {
        block: set(seen.sectors[(seen.kinds == FlagAccess.POLL) & (seen.blocks == block)]) for block in range(count)
    }
    said = {
        block: set(seen.sectors[(seen.kinds == FlagAccess.PUBLISH) & (seen.blocks == block)]) for block in range(count)
    }
    if count > 4 and len(set().union(*waited.values())) <= 2:
        return 0
    links = [0] * count
    for block in range(1, count):
        before = next((b for b in range(block - 1, -1, -1) if said[b] & waited[block]), None)
        links[block] = 0 if before is None else links[before] + 1
    return max(links)


def _publishes_first(seen: ReachedSectors, count: int) -> bool:
    """Whether most blocks publish to the polled words before they wait themselves."""
    there = np.isin(seen.sectors, seen.sectors[seen.kinds == FlagAccess.POLL])
    first = others = 0
    for block in range(1, count):
        mine = seen.kinds[there & (seen.blocks == block)]
        if (mine == FlagAccess.POLL).any():
            others += 1
            first += int(mine[0] == FlagAccess.PUBLISH)
    return 2 * first > others
