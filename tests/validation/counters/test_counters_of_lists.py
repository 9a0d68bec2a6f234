"""Guests, visitors and those after them beside what Nsight Compute counted on an H200 (measurements/h200)."""

from __future__ import annotations

import pytest

from helpers.hardware_counters import check, names
from helpers.validation_lists import the_lists

launches = the_lists()
RECORDS = {
    "guests.csv": launches.GUESTS, "visitors.csv": launches.VISITORS, "travellers.csv": launches.TRAVELLERS,
    "newcomers.csv": launches.NEWCOMERS, "wanderers.csv": launches.WANDERERS,
    "settlers.csv": launches.SETTLERS,
}  # fmt: skip
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


def test_every_kernel_was_counted() -> None:
    assert sorted(SMALL) == sorted(name for record in RECORDS for name in names(record))
