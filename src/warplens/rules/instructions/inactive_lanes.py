"""Inactive lanes: warps execute instructions with fewer than 32 threads doing something.

Causes: branches that diverge (let whole warps go one way), a block size that is no multiple of 32, or instructions
under a predicate.  Nsight Compute: ThreadDivergence, below 24 of 32 threads, which estimates the share that is
missing, times the throughput of the SM; LaunchConfiguration for the block size.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.vocabulary import ALL, EXECUTED, Column
from warplens.rules._counted_launch import ISSUE, CountedLaunch, heaviest_line, work
from warplens.rules._rule import Finding, rule

DIVERGENT_BRANCHES = 0.01  # share of the branch targets from which divergence is named as the cause
INACTIVE = 32 * EXECUTED[ALL] - Column("threads_on")[ALL]


class InactiveLanesEvidence(NamedTuple):
    """Average active threads of a warp, 0 to 32; the share of branch targets that diverge, 0 where it is no cause;
    threads of a block that does not fill its last warp, 0 where that is no cause."""

    threads: float
    divergent_branches: float
    partial_block: int


@rule(
    threshold=0.08,
    reads=(
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
        "smsp__sass_branch_targets.sum",
        "smsp__sass_branch_targets_threads_divergent.sum",
        "smsp__inst_executed.sum",
    ),
    fires="reduction/1_neighboured",
    silent="reduction/2_compact",
)
def inactive_lanes(launch: CountedLaunch) -> Finding | None:
    executed = int(launch["smsp__inst_executed.sum"])
    if not executed:
        return None
    targets = int(launch["smsp__sass_branch_targets.sum"])
    divergent = int(launch["smsp__sass_branch_targets_threads_divergent.sum"])
    share = divergent / targets if divergent else 0.0
    block = launch.launch.threads_per_block
    partial = block if not divergent and block % 32 else 0
    evidence = InactiveLanesEvidence(launch.lanes, share if share >= DIVERGENT_BRANCHES else 0.0, partial)
    line = None if partial else heaviest_line(launch, INACTIVE)
    return Finding("inactive_lanes", ISSUE * executed * (1 - launch.lanes / 32) / work(launch), evidence, line)
