"""Branches and divergence.

Found on an H200:  every BRA, BRX, CALL and RET has targets, conditional or not, taken or not; EXIT has
none. targets = uniform + divergent: an execution whose lanes agree is one uniform target, one whose lanes
choose k targets is k - 1 divergent ones.  WARPSYNC.EXCLUSIVE is a branch whose targets are the different masks of its
lanes; WARPSYNC, WARPSYNC.ALL and BSYNC have none (200 random programs), and it is a branch instruction to the SASS
counter (every_counter.csv: 48 of 144, 25 of 225).  The hardware's own count of branch
instructions includes replays (see instructions.py), the SASS ones do not.
"""

from __future__ import annotations

from warplens.counters.opcodes import BRANCHES, TARGETS
from warplens.counters.vocabulary import ALL, DIVERGENT, EXECUTED, PARTED, REPLAYS, Formula, exact, opcode

BRANCH, BRANCHING = opcode(*BRANCHES), opcode(*TARGETS)
TARGET = BRANCHING | opcode("WARPSYNC.EXCLUSIVE")
UNIFORM = EXECUTED[TARGET] - PARTED[TARGET]
TARGETS_CHOSEN = UNIFORM + DIVERGENT[TARGET]
ISSUED = EXECUTED[BRANCH] + REPLAYS[BRANCH]

METRICS: tuple[Formula, ...] = (
    exact("smsp__inst_executed_op_branch.sum", "inst", ISSUED),
    exact("smsp__sass_inst_executed_op_branch.sum", "inst", EXECUTED[TARGET]),
    exact("derived__smsp__inst_executed_op_branch_pct", "%", 100 * ISSUED / (EXECUTED[ALL] + REPLAYS[ALL])),
    exact("smsp__sass_branch_targets.sum", "", TARGETS_CHOSEN),
    exact("smsp__sass_branch_targets_threads_uniform.sum", "", UNIFORM),
    exact("smsp__sass_branch_targets_threads_divergent.sum", "", DIVERGENT[TARGET]),
    exact("smsp__sass_average_branch_targets_threads_uniform.pct", "%", 100 * UNIFORM / TARGETS_CHOSEN),
)
