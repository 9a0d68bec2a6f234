"""Double literal: floats or integers are converted to doubles, computed with and converted back.

0.5 is a double, 0.5f is not; call sqrtf and expf where the argument is a float.  Nsight Compute: no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.vocabulary import ALL, EXECUTED, GLOBAL, REQUESTS, Selection, bits, opcode, opcode_beginning
from warplens.rules._counted_launch import CountedLaunch, heaviest_line
from warplens.rules._rule import Finding, rule

DOUBLE = opcode("DADD", "DMUL", "DFMA", "DSETP")
OF_DOUBLES = Selection(lambda site: "F64" in site.opcode.split("."))
TO_DOUBLE = opcode("F2F.F64.F32") | opcode_beginning("I2F") & OF_DOUBLES
OF_FLOATS = opcode("F2F.F64.F32", "F2F.F32.F64")
FROM_DOUBLE = opcode("F2F.F32.F64") | opcode_beginning("F2I") & OF_DOUBLES


class DoubleLiteralEvidence(NamedTuple):
    """Share of the executed instructions that convert or compute in double precision."""

    share: float


@rule(
    threshold=0.08,
    reads=(
        "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
        "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
        "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
        "smsp__inst_executed.sum",
    ),
    fires="rules.cu/double_literals",
    silent="rules.cu/float_literals",
)
def double_literal(launch: CountedLaunch) -> Finding | None:
    widened, narrowed, double = (launch.total(EXECUTED[kind]) for kind in (TO_DOUBLE, FROM_DOUBLE, DOUBLE))
    if not (widened and narrowed and double):
        return None
    if not launch.total(EXECUTED[OF_FLOATS]) and launch.total(REQUESTS[GLOBAL & bits(64)]):
        return None  # integers beside arrays of doubles
    share = (widened + narrowed + double) / launch.total(EXECUTED[ALL])
    return Finding("double_literal", share / 2, DoubleLiteralEvidence(share), heaviest_line(launch, EXECUTED[DOUBLE]))
