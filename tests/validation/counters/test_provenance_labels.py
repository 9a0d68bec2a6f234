"""Labels: no counter that differed on an H200 because of the order of warps or of time is labelled exact.

Nothing is run here: the labels follow from the machine code and the launch.
"""

from __future__ import annotations

import tomllib

import pytest

from helpers.hardware_counters import KNOWN_DIFFERENCES, ROOT, found
from helpers.validation_lists import the_lists
from warplens.commands.target import Flags, Target, targets
from warplens.counters.metrics import formulas
from warplens.emulator.analysis.order_dependence import dependence

with KNOWN_DIFFERENCES.open("rb") as file:
    DEPENDENT = {
        (record, name): told["counters"]
        for record, kernels in tomllib.load(file).items()
        for name, told in kernels.items()
        if told.get("order")
    }
FILES = {"strangers.csv": "stranger_*.cu", "odd.csv": "odd_*.cu"}


def target_of(record: str, name: str) -> Target:
    if record in FILES:
        return found(FILES[record], name)
    if record == "field.csv":
        lists = the_lists()
        return next(case for case in lists.cases(lists.FIELD) if case.flags.kernel == name).target()
    return targets(str(ROOT / "tests" / "kernels" / record.replace(".csv", ".cu")), Flags(kernel=name))[0]


def exact(target: Target) -> set[str]:
    """The metrics that would be labelled so."""
    warps = target.launch.blocks * target.launch.warps_per_block
    counts, addresses = dependence(target.kernel.kernel, target.kernel.program, warps)
    return {
        formula.name for formula in formulas(target.kernel.arch)
        if formula.provenance == "exact" and not counts and not (addresses and formula.quantity.of_addresses)
    }  # fmt: skip


@pytest.mark.parametrize(("record", "name"), sorted(DEPENDENT))
def test_what_depends_on_the_order_is_not_exact(record: str, name: str) -> None:
    assert not exact(target_of(record, name)) & set(DEPENDENT[record, name])
