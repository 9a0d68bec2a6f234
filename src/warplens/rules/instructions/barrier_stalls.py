"""Barrier stalls: many barriers beside few other instructions, and at each the whole block waits for its last warp.

Work inside of a warp needs none (shuffles, __syncwarp); more work a thread means fewer rounds; two buffers in turn need
one barrier a round and not two.  Nsight Compute: CPIStall for "barrier" (CPIStallBarrier in older versions), from 30 %
of the warps' cycles on.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.vocabulary import EXECUTED, opcode
from warplens.rules._counted_launch import BARRIER, CountedLaunch, heaviest_line, work
from warplens.rules._rule import Finding, rule

BARRIERS = EXECUTED[opcode("BAR")]


class BarrierStallsEvidence(NamedTuple):
    """Barriers that a warp executes; instructions for each."""

    barriers: float
    instructions: float


@rule(
    threshold=0.08,
    reads=("smsp__inst_executed.sum",),
    fires="reduction/3_interleaved",
    silent="reduction/10_shuffle",
)
def barrier_stalls(launch: CountedLaunch) -> Finding | None:
    barriers = launch.total(BARRIERS)
    if not barriers or launch.launch.warps_per_block == 1:
        return None
    waits = BARRIER * barriers
    warps = launch.launch.blocks * launch.launch.warps_per_block
    evidence = BarrierStallsEvidence(barriers / warps, int(launch["smsp__inst_executed.sum"]) / barriers)
    return Finding("barrier_stalls", waits / (work(launch) + waits), evidence, heaviest_line(launch, BARRIERS))
