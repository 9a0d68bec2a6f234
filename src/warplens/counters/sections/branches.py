"""Branches and divergence.

Found on an H200:  every BRA, BRX, CALL and RET has targets, conditional or not, taken or not; EXIT has
none. targets = uniform + divergent: an execution whose lanes agree is one uniform target, one whose lanes
choose k targets is k - 1 divergent ones.  The trace counts divergent executions, so a BRX or RET with more
than two targets at once counts as one divergent target here, where a GPU counts k - 1.  WARPSYNC.EXCLUSIVE
counts as a uniform target each time, WARPSYNC, WARPSYNC.ALL and BSYNC do not (200 random programs).
"""

from __future__ import annotations

from warplens.counters.opcodes import BRANCHES, TARGETS
from warplens.counters.vocabulary import ALL, DIVERGENT, EXECUTED, Formula, exact, opcode

BRANCH, BRANCHING = opcode(*BRANCHES), opcode(*TARGETS)
TARGET = BRANCHING | opcode("WARPSYNC.EXCLUSIVE")
UNIFORM = EXECUTED[TARGET] - DIVERGENT[TARGET]

METRICS: tuple[Formula, ...] = (
    exact("smsp__inst_executed_op_branch.sum", "inst", EXECUTED[BRANCH]),
    exact("smsp__sass_inst_executed_op_branch.sum", "inst", EXECUTED[BRANCHING]),
    exact("derived__smsp__inst_executed_op_branch_pct", "%", 100 * EXECUTED[BRANCH] / EXECUTED[ALL]),
    exact("smsp__sass_branch_targets.sum", "", EXECUTED[TARGET]),
    exact("smsp__sass_branch_targets_threads_uniform.sum", "", UNIFORM),
    exact("smsp__sass_branch_targets_threads_divergent.sum", "", DIVERGENT[TARGET]),
    exact("smsp__sass_average_branch_targets_threads_uniform.pct", "%", 100 * UNIFORM / EXECUTED[TARGET]),
)
