"""Small blocks: each has less to do than the time between the starts of two blocks, which then limits the launch.

Larger blocks, several elements a thread, or as many blocks as are resident with a grid-stride loop.  Nsight Compute:
no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.rules._counted_launch import CountedLaunch, work
from warplens.rules._rule import Finding, rule


class SmallBlocksEvidence(NamedTuple):
    """SM cycles of work in a block, counted as for all weights; SM cycles between the starts of two blocks; threads."""

    work: float
    interval: float
    threads: int


@rule(
    threshold=0.08,
    reads=("launch__grid_size", "launch__block_size", "smsp__inst_executed.sum"),
    fires="rules.cu/scale_by_warps",
    silent="rules.cu/scale_by_stride",
)
def small_blocks(launch: CountedLaunch) -> Finding | None:
    if launch.waves < 1:  # all start at once
        return None
    interval = launch.machine.multiprocessors / launch.machine.speeds.block_rate
    each = work(launch) / launch.launch.blocks
    # a quarter: nothing is wasted, and the memory may be slower still
    evidence = SmallBlocksEvidence(each, interval, launch.launch.threads_per_block)
    return Finding("small_blocks", max(1 - each / interval, 0.0) / 4, evidence)
