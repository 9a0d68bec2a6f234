"""Guests beside what Nsight Compute counted for them on an H200 (measurements/h200/guests.csv)."""

from __future__ import annotations

from pathlib import Path

import pytest

from validation_lists import the_lists
from warplens.host import USUAL
from warplens.validation import Emulated, with_record

RECORD = str(Path(__file__).parents[2] / "measurements" / "h200" / "guests.csv")
launches = the_lists()
SMALL = {case.flags.kernel: case for case in reversed(list(launches.cases(launches.GUESTS)))}
"""Of each guest the first size."""


def check(guest: str) -> None:
    (agreement,) = with_record([Emulated(SMALL[guest].target(), USUAL, None)], RECORD)
    assert len(agreement.rows) > 40
    assert agreement.equal, [(r.name, r.emulated.value, r.measured.value) for r in agreement.rows if not r.equal]


@pytest.mark.long
@pytest.mark.parametrize("guest", sorted(SMALL))
def test_counts_as_on_an_h200(guest: str) -> None:
    check(guest)
