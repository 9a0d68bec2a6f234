"""Guests and visitors beside what Nsight Compute counted for them on an H200 (measurements/h200)."""

from __future__ import annotations

import pytest

from beside_h200 import check
from validation_lists import the_lists

launches = the_lists()
RECORDS = {"guests.csv": launches.GUESTS, "visitors.csv": launches.VISITORS}
SMALL = {  # of each kernel the first size
    case.flags.kernel: (case, record)
    for record, file in RECORDS.items()
    for case in reversed(list(launches.cases(file)))
}


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SMALL))
def test_counts_as_on_an_h200(name: str) -> None:
    case, record = SMALL[name]
    check(case.target(), record)
