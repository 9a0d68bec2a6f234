"""Several multiprocessors of one launch, each with its own blocks.  F5.

A launch ends with its slowest multiprocessor.  Where there is little to do, some of them or all are simulated: which
lines each one finds in L2 depends on when the others have asked for them.  So they are simulated twice: first to see
when each line is asked for, then with these times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.errors import Unpredictable
from warplens.model import layout as p
from warplens.model.grid.memory_supply import MemorySupply
from warplens.model.grid.simulated_blocks import SimulatedBlocks
from warplens.model.instruction.instruction_table import InstructionTable
from warplens.model.sm.activity import History
from warplens.model.sm.simulate import simulate
from warplens.model.trace.warp_streams import WarpStreams, part

# effort: memory
LINES = 1 << 20  # that are told apart, seldom two taken for one: a launch that is looked at in this way asks for fewer


@dataclass(frozen=True)
class Simulation:
    """Of one multiprocessor.  counts: by place in layout.py;  stalls: (reason, instruction);  busy: cycles of each
    pipe"""

    counts: NDArray[np.float64]
    stalls: NDArray[np.float64]
    history: History
    busy: NDArray[np.float64]


def side_by_side(
    streams: WarpStreams,
    chosen: SimulatedBlocks,
    code: InstructionTable,
    settings: NDArray[Any],
    supply: MemorySupply,
    lines: tuple[int, ...],
) -> list[Simulation]:
    """One for each multiprocessor that was chosen.  Unpredictable where blocks have not been recorded or do not end."""
    nobody = np.full(1, p.NEVER, np.float64)
    if not chosen.alongside:
        return [_simulated(streams, chosen.blocks, chosen, code, settings, supply, lines, nobody, nobody)]
    before, now = np.full(LINES, p.NEVER, np.float64), np.full(LINES, p.NEVER, np.float64)
    every = (chosen.blocks, *chosen.alongside)
    for blocks in every:
        _simulated(streams, blocks, chosen, code, settings, supply, lines, before, now)
    aside = np.full(LINES, p.NEVER, np.float64)
    return [_simulated(streams, blocks, chosen, code, settings, supply, lines, now, aside) for blocks in every]


def _simulated(
    streams: WarpStreams,
    blocks: tuple[int, ...],
    chosen: SimulatedBlocks,
    code: InstructionTable,
    settings: NDArray[Any],
    supply: MemorySupply,
    lines: tuple[int, ...],
    before: NDArray[np.float64],
    now: NDArray[np.float64],
) -> Simulation:
    own = part(streams, blocks)
    if (own.starts == own.ends).any():
        raise Unpredictable("its blocks execute more than can be recorded: measure it on a GPU")
    counts, stalls, history, busy = simulate(
        own.words, own.starts, own.ends, own.warps, chosen.room, code.rows, code.cycles, code.latencies,
        code.firsts, code.lasts, settings, supply.arrays(), lines, (before, now),
    )  # fmt: skip
    if not history.ended.all():
        raise Unpredictable("its warps wait for each other as the model does not know it: measure it on a GPU")
    return Simulation(counts, stalls, history, busy)
