"""Tail effect: the last wave of blocks is nearly empty, so that most SMs wait for a few blocks.

A grid of whole waves, smaller blocks, or as many blocks as are resident with a grid-stride loop.  Nsight Compute:
LaunchConfiguration, from 20 % for the last wave on (one of at most five waves), where the achieved occupancy is below
80 % of the theoretical one.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from warplens.rules._counted_launch import CountedLaunch
from warplens.rules._rule import Finding, rule


class TailEffectEvidence(NamedTuple):
    """Blocks that run at once on the GPU; whole waves; blocks of the last, partial wave."""

    resident: int
    whole: int
    left: int


@rule(
    threshold=0.1,
    reads=("launch__waves_per_multiprocessor", "launch__grid_size"),
    fires="rules.cu/nearly_empty_wave",
    silent="rules.cu/whole_wave",
)
def tail_effect(launch: CountedLaunch) -> Finding | None:
    resident = launch.machine.multiprocessors * launch.occupancy.blocks
    whole, left = divmod(launch.launch.blocks, resident)
    if not whole or not left:
        return None
    idle = 1 - launch.waves / ceil(launch.waves)
    # a half: the blocks of the last wave have an SM to themselves and run faster than the others did
    return Finding("tail_effect", idle / 2, TailEffectEvidence(resident, whole, left))
