"""Unfused multiply-add: a product goes into a sum by an instruction of its own, where one would do both.

`a * b + c` is one instruction unless the compiler is told not to (--fmad=false, __fmul_rn, __fadd_rn); fmaf(a, b, c)
is always one.  The result is rounded once and not twice.  Nsight Compute: FPInstructions ("FP32 Non-Fused
Instructions"), from 20 % of all additions and multiplications on, fusible or not; it estimates half of their share,
times the utilization of the pipe.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.rules._counted_launch import ISSUE, CountedLaunch, executed, line_with_most, work
from warplens.rules._rule import Finding, rule

FEWEST = 0.05  # of the work
PAIRS = {"FMUL": "FADD", "DMUL": "DADD", "HMUL2": "HADD2"}


class UnfusedMultiplyAddEvidence(NamedTuple):
    """Multiplications that could be part of an addition: their share of the executed instructions."""

    share: float


@rule(
    threshold=FEWEST,
    reads=(
        "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
        "smsp__inst_executed.sum",
    ),
    fires="rules.cu/unfused",
    silent="rules.cu/fused",
)
def unfused_multiply_add(launch: CountedLaunch) -> Finding | None:
    went = [i for i in launch.program.instructions if launch.trace.executed[i.index]]
    products = [i for i in went if i.base in PAIRS]
    sums = executed(launch, (i.index for i in went if i.base in PAIRS.values()))
    most = min(executed(launch, (i.index for i in products)), sums)
    if ISSUE * most < FEWEST * work(launch):
        return None
    flow = launch.flow
    amounts: dict[int, float] = {}
    taken: set[int] = set()  # additions with a product already: of a * b + c * d one multiplication stays
    for product in products:
        users = flow.users[product.index]
        added = all(launch.program.instructions[user].base == PAIRS[product.base] for user in users)
        if users and added and not users & taken:
            amounts[product.index] = executed(launch, [product.index])
            taken |= users
    if not amounts:
        return None
    share = sum(amounts.values()) / int(launch["smsp__inst_executed.sum"])
    weight = ISSUE * sum(amounts.values()) / work(launch)
    return Finding("unfused_multiply_add", weight, UnfusedMultiplyAddEvidence(share), line_with_most(launch, amounts))
