"""Several multiprocessors of one launch, each with its own blocks.  F5.

A launch ends with its slowest multiprocessor.  Where there is little to do, some of them or all are simulated: which
lines each one finds in L2 depends on when the others have asked for them.  So they go on together, a stretch each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.errors import Unpredictable
from warplens.model import places as p
from warplens.model.by_warp import ByWarp, part
from warplens.model.chosen import Chosen
from warplens.model.machine_code import MachineCode
from warplens.model.simulation import Simulation
from warplens.model.supply import Supply

LINES = 1 << 20  # that are told apart, seldom two taken for one: a launch that is looked at in this way asks for fewer
STRETCH = 200  # cycles: by so much less than L2 takes may one see too late what another has asked for


def side_by_side(
    streams: ByWarp, chosen: Chosen, code: MachineCode, settings: NDArray[Any], supply: Supply, lines: tuple[int, ...]
) -> list[Simulation]:
    """One for each multiprocessor that was chosen.  Unpredictable where blocks have not been recorded or do not end."""
    asked = np.full(LINES if chosen.alongside else 1, p.NEVER, np.float64)
    if len(chosen.alongside) + 1 == chosen.active:  # who asks first is seen then
        supply = replace(supply, first=np.ones_like(supply.first))
    every = []
    for blocks in (chosen.blocks, *chosen.alongside):
        own = part(streams, blocks)
        if (own.starts == own.ends).any():
            raise Unpredictable("its blocks execute more than can be recorded: measure it on a GPU")
        every.append(Simulation(own, chosen.resident, code, settings, supply.arrays(), lines, asked))
    going, until = every, 0.0
    while going:
        until = min(one.now for one in going) + STRETCH if chosen.alongside else p.NEVER
        for one in going:
            one.go_on(until)
        going = [one for one in going if not one.over][::-1]  # none of them is always the first
    if not all(one.ended.all() for one in every):
        raise Unpredictable("its warps wait for each other as the model does not know it: measure it on a GPU")
    return every
