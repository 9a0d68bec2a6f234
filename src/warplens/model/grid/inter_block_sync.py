"""Blocks that wait for what blocks before them say: how much longer they take than without.

A loop that does nothing but load a word that others change is a wait.  How often it goes round says nothing: that
depends on the order in which the executor runs blocks.  What waits cost follows from who waits for whom, and it takes
some of the first blocks to see that.

A chain, in which a block says something only when the block before has: each link costs `hand_over` cycles, from one
block's store to the next one's (`chain of blocks` of the calibration: 511 from 132 to 4,224 blocks), and what a fence
costs if there is one in between.

A meeting, at which all wait for all (a barrier of the grid), takes `meeting` cycles more of a block on each
multiprocessor than of one alone (`meeting of 132` of the calibration: 856).  More than 250 blocks that poll one word
hold up each other, 4 to 6.5 cycles each (1,056 of them meet in 3,900 to 7,000 cycles): left out.

A look back, in which each block first says what it has, and then looks at the blocks before it, w at a time, until it
finds one that has finished (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016).  Of
W blocks that start together those that are done after n looks are w n more than after n - 1, so that n looks suffice
for w n^2 / 2 blocks: sqrt(2 W / w) looks of `look_back` cycles for each wave (`look back` of the calibration).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.core.counts import Trace
from warplens.core.program import Program
from warplens.counters.opcodes import width
from warplens.machine import Speeds
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.trace.warp_streams import ReachedLines, WarpStreams, sectors_of
from warplens.sass.block_queue import PUBLISHES, waiting_loads

WAITING = "its blocks wait for each other, and a prediction runs only some of them: measure it on a GPU"
WAITED, SAID = 1, 2
FIRST_BLOCKS = 48  # effort: that are looked at
ENOUGH = 200_000  # effort: sectors likewise


@dataclass(frozen=True)
class InterBlockSync:
    """Cycles that blocks wait for blocks before them, beside the time that one takes, and where all meet, besides."""

    before: float = 0.0
    met: float = 0.0

    def limit(self, cycles: float) -> str:
        """The sentence on what limits a launch of so many cycles, where they are what does."""
        if 2 * self.before <= cycles:
            return ""
        share = 100 * min(self.before / cycles, 1.0)
        return f"each block waits for what one before it says ({share:.0f} % of the time)"


def waits_of(
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
    kinds[[i.index for i in program.instructions if i.base in PUBLISHES]] = SAID
    kinds[loads] = WAITED

    count = min(total, FIRST_BLOCKS)
    seen = sectors_of(recorded(tuple(range(count))), kinds, np.full(kinds.size, 4), ENOUGH)
    links = longest_chain(seen, count)
    if links == 0:
        return InterBlockSync(met=_met(_looks(seen), speeds))
    if not _says_first(seen, count):
        link = speeds.hand_over_cycles + _fenced(program, loads) * speeds.latency_fence
        return InterBlockSync(total * links / max(count - 1, 1) * link)
    words = sum(trace.bytes[i] / (width(program.instructions[i]) / 8) for i in loads)
    at_once = max(words / max(sum(trace.requests[i] for i in loads), 1), 1.0)
    together = min(chosen.active * chosen.resident, total)
    return InterBlockSync(total / together * math.sqrt(2.0 * together / at_once) * speeds.look_back_cycles)


def _looks(seen: ReachedLines) -> NDArray[np.float64]:
    """How often each block looks at what it waits for."""
    return np.bincount(seen.blocks[seen.kinds == WAITED]) / seen.share


def _met(looks: NDArray[np.float64], speeds: Speeds) -> float:
    """The executor lets a block look twice at each meeting, in vain and then not, but once at the last: the one look
    more is in the time of the blocks that are simulated."""
    if not looks.size:
        return 0.0
    return math.ceil(float(looks.mean()) / 2) * max(speeds.meeting_cycles - speeds.latency_l2, 0.0)


def _fenced(program: Program, loads: list[int]) -> bool:
    """Whether a fence stands between what is waited for and what is said then."""
    behind = [i for i in program.instructions if i.index > max(loads) and (i.base in PUBLISHES or i.base == "MEMBAR")]
    return bool(behind) and behind[0].base == "MEMBAR"


def longest_chain(seen: ReachedLines, count: int) -> int:
    """How many of `count` blocks, one behind the other, wait for one before them.  0 where most wait at one place: they
    meet there."""
    waited = {block: set(seen.sectors[(seen.kinds == WAITED) & (seen.blocks == block)]) for block in range(count)}
    said = {block: set(seen.sectors[(seen.kinds == SAID) & (seen.blocks == block)]) for block in range(count)}
    if count > 4 and len(set().union(*waited.values())) <= 2:
        return 0
    links = [0] * count
    for block in range(1, count):
        before = next((b for b in range(block - 1, -1, -1) if said[b] & waited[block]), None)
        links[block] = 0 if before is None else links[before] + 1
    return max(links)


def _says_first(seen: ReachedLines, count: int) -> bool:
    """Whether most blocks say something of what is waited for before they wait themselves."""
    there = np.isin(seen.sectors, seen.sectors[seen.kinds == WAITED])
    first = others = 0
    for block in range(1, count):
        mine = seen.kinds[there & (seen.blocks == block)]
        if (mine == WAITED).any():
            others += 1
            first += int(mine[0] == SAID)
    return 2 * first > others
