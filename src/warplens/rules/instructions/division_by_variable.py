"""Division by a variable: / or % by an integer that the compiler does not know, some 20 instructions each.

A GPU has no integer division.  Make the divisor a constant (a template argument), a power of two (then a shift or a
mask), multiply by a reciprocal made once, or drop the division: a two-dimensional grid has rows and columns already,
and an index that only steps needs a comparison, not a remainder.  Divisions that the compiler adds, to know how often
an unrolled loop goes round, are left out.  Nsight Compute: no rule.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from warplens.counters.idioms import Idiom
from warplens.rules._counted_launch import ISSUE, CountedLaunch, executed, line_with_most, work
from warplens.rules._rule import Finding, rule

LONG = frozenset({"64-bit division", "64-bit remainder"})


class DivisionByVariableEvidence(NamedTuple):
    """Instructions of one division; share of the executed instructions; whether of 64 bits."""

    instructions: int
    share: float
    long: bool


@rule(
    threshold=0.05,
    reads=("smsp__inst_executed.sum",),
    fires="coalescing/2_nccopy",
    silent="coalescing/1_ccopy",
)
def division_by_variable(launch: CountedLaunch) -> Finding | None:
    if not any(i.base in ("I2F", "UI2F") and "RP" in i.modifiers for i in launch.program.instructions):
        return None  # each such division begins with the divisor as a float, rounded up
    found = [i for i in launch.idioms if (i.name.endswith(" by a variable") or i.name in LONG) and written(launch, i)]
    amounts = {index: executed(launch, [index]) for idiom in found for index in idiom.instructions}
    if not sum(amounts.values()):
        return None
    heaviest = max(found, key=lambda idiom: executed(launch, idiom.instructions))
    share = sum(amounts.values()) / int(launch["smsp__inst_executed.sum"])
    evidence = DivisionByVariableEvidence(len(heaviest.instructions), share, heaviest.name in LONG)
    # a half: what takes its place, a multiplication, a mask or another index, has instructions too
    weight = ISSUE * sum(amounts.values()) / work(launch) / 2
    return Finding("division_by_variable", weight, evidence, line_with_most(launch, amounts))


def written(launch: CountedLaunch, idiom: Idiom) -> bool:
    """Whether the source has it, and not the compiler in the head of a loop without / and %.  Other lines may be wrong:
    the line table gives instructions that were moved the line of a neighbour."""
    texts = [launch.text_of(place).partition("//")[0] for place in idiom.lines]
    divides = any("/" in text or "%" in text for text in texts)
    return divides or not any(re.search(r"\b(for|while)\b", text) for text in texts)
