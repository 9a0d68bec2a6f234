"""Labels: no counter that differed on an H200 because of the order of warps or of time is labelled exact.

Nothing is run here: the labels follow from the machine code and the launch.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from helpers.hand_made_traces import trace
from helpers.hardware_counters import KNOWN_DIFFERENCES
from validation.lists import LISTS
from warplens.commands.target import Target
from warplens.counters.metric_collection import formulas
from warplens.counters.vocabulary import Counts
from warplens.emulator.analysis.order_dependence import dependence

with KNOWN_DIFFERENCES.open("rb") as file:
    DEPENDENT = {
        (title, name): told["counters"]
        for title, kernels in tomllib.load(file).items()
        for name, told in kernels.items()
        if told.get("order")
    }


def exact(target: Target) -> set[str]:
    """The metrics that would be labelled so."""
    warps = target.launch.blocks * target.launch.warps_per_block
    program, rows = target.kernel.program, [dict[str, int]()] * len(target.kernel.program.instructions)
    order = dependence(target.kernel.kernel, program, warps)
    counts = Counts(program, replace(trace(target.launch, rows), dependence=order), [0] * len(rows))
    return {
        formula.name for formula in formulas(target.kernel.arch)
        if formula.provenance == "exact" and counts.provenances(formula.quantity) == ["exact"]
    }  # fmt: skip


@pytest.mark.every(4)
@pytest.mark.parametrize(("title", "name"), sorted(DEPENDENT))
def test_what_depends_on_the_order_is_not_exact(title: str, name: str) -> None:
    assert not exact(LISTS[title].first_cases()[name].target()) & set(DEPENDENT[title, name])
