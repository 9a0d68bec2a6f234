"""Slow conversion: conversions between integers and floats, or of their widths, in a loop, at 16 lanes a cycle.

Convert once before the loop, keep a float counter beside the integer one, or compute in the type that the data has:
conversions pass the pipe of the special functions, where additions have 64 or 128 lanes.  Nsight Compute: no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.rules._counted_launch import ISSUE, CountedLaunch, executed, line_with_most, work
from warplens.rules._rule import Finding, rule

CONVERSIONS = frozenset({"I2F", "F2I", "F2F", "FRND"})


class SlowConversionEvidence(NamedTuple):
    """Conversions in loops: their share of the executed instructions; lanes that an SM converts a cycle."""

    share: float
    lanes: int


@rule(
    threshold=0.08,
    reads=("smsp__inst_executed.sum",),
    fires="rules.cu/converts_each_round",
    silent="rules.cu/converts_once",
)
def slow_conversion(launch: CountedLaunch) -> Finding | None:
    looped = {i for loop in launch.program.loops for i in launch.flow.body(loop)} if launch.program.loops else set()
    found = {i for i in looped if launch.program.instructions[i].base in CONVERSIONS and launch.trace.executed[i]}
    if not found:
        return None
    divisions = {i for idiom in launch.idioms if "division" in idiom.name or "remainder" in idiom.name
                 for i in idiom.instructions}  # fmt: skip
    amounts = {i: float(executed(launch, [i])) for i in found - divisions if not of_doubles(launch, i)}
    if not amounts:
        return None
    number = sum(amounts.values())
    cycles = 32 / launch.machine.limits.special_lanes  # of an SM for a warp
    extra = (cycles - ISSUE) * number  # beyond what all instructions count
    share = number / int(launch["smsp__inst_executed.sum"])
    weight = cycles * number / (work(launch) + extra)
    return Finding(
        "slow_conversion",
        weight,
        SlowConversionEvidence(share, launch.machine.limits.special_lanes),
        line_with_most(launch, amounts),
    )


def of_doubles(launch: CountedLaunch, index: int) -> bool:
    """Between float and double: the double literal rule has these."""
    return "F64" in launch.program.instructions[index].modifiers
