"""Ladders of kernels beside what Nsight Compute counted for them on an H200 (measurements/h200/ladders.csv)."""

from __future__ import annotations

from pathlib import Path

import pytest

from validation_lists import the_lists
from warplens.host import USUAL
from warplens.target import Target
from warplens.validation import Emulated, with_record

RECORD = str(Path(__file__).parents[2] / "measurements" / "h200" / "ladders.csv")
launches = the_lists()
SMALL = {case.flags.kernel: case for case in reversed(list(launches.cases(launches.LADDERS)))}
"""Of each rung the first size."""


def check(rung: str) -> None:
    target: Target = SMALL[rung].target()
    (agreement,) = with_record([Emulated(target, USUAL, None)], RECORD)
    assert len(agreement.rows) > 40
    assert agreement.equal, [(r.name, r.emulated.value, r.measured.value) for r in agreement.rows if not r.equal]


@pytest.mark.long
@pytest.mark.parametrize("rung", sorted(SMALL))
def test_counts_as_on_an_h200(rung: str) -> None:
    check(rung)


def test_a_break_with_a_predicate_is_on_in_the_lanes_that_leave() -> None:
    check("heat_plain")
