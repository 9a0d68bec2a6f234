"""Visitors beside what Nsight Compute counted for them on an H200 (measurements/h200/visitors.csv)."""

from __future__ import annotations

import pytest

from beside_h200 import check
from validation_lists import the_lists

launches = the_lists()
SMALL = {case.flags.kernel: case for case in reversed(list(launches.cases(launches.VISITORS)))}
"""Of each visitor the first size."""


@pytest.mark.long
@pytest.mark.parametrize("visitor", sorted(SMALL))
def test_counts_as_on_an_h200(visitor: str) -> None:
    check(SMALL[visitor].target(), "visitors.csv")
