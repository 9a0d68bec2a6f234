"""Small grid: fewer blocks than the GPU has SMs.

Smaller blocks, or more of the problem in one launch.  Nsight Compute: LaunchConfiguration, "Small Grid", likewise.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.rules._counted_launch import CountedLaunch
from warplens.rules._rule import Finding, rule


class SmallGridEvidence(NamedTuple):
    blocks: int
    multiprocessors: int


@rule(
    threshold=0.08,
    reads=("launch__grid_size",),
    fires="divergence/2a_tail_1003",
    silent="divergence/2d_tail_10000",
)
def small_grid(launch: CountedLaunch) -> Finding | None:
    blocks, multiprocessors = launch.launch.blocks, launch.machine.multiprocessors
    if blocks >= multiprocessors:
        return None
    # an eighth: a matter of the launch, and often only of a small trial
    return Finding("small_grid", (1 - blocks / multiprocessors) / 8, SmallGridEvidence(blocks, multiprocessors))
