"""Ladders of kernels beside what Nsight Compute counted for them on an H200 (measurements/h200/ladders.csv)."""

from __future__ import annotations

import pytest

from helpers.hardware_counters import check
from helpers.validation_lists import the_lists

RECORD = "ladders.csv"
launches = the_lists()
SMALL = {case.flags.kernel: case for case in reversed(list(launches.cases(launches.LADDERS)))}
"""Of each rung the first size."""


@pytest.mark.long
@pytest.mark.parametrize("rung", sorted(SMALL))
def test_counts_as_on_an_h200(rung: str) -> None:
    check(SMALL[rung].target(), RECORD)


def test_a_break_with_a_predicate_is_on_in_the_lanes_that_leave() -> None:
    check(SMALL["heat_plain"].target(), RECORD)
