"""Guests, visitors and those after them beside what Nsight Compute counted on an H200 (measurements/h200)."""

from __future__ import annotations

import pytest

from beside_h200 import check, names
from validation_lists import the_lists

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
DIFFERENT = {
    "like_rows": "asked for all 45 counters, six instrumented ones are 1 to 6 away (branch targets 5 of 514,365); "
    "asked for five alone, those are equal, and the hardware's own always are",
    "found_words": "asked for all 45, branch targets are 5 less (13,694 for 13,699); asked for alone they are equal",
    "found_staged": "asked for all 45, branch targets are 5 less (14,325 for 14,330); asked for alone they are equal",
}


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(SMALL) - set(DIFFERENT)))
def test_counts_as_on_an_h200(name: str) -> None:
    case, record = SMALL[name]
    check(case.target(), record)


def test_every_kernel_was_counted() -> None:
    assert sorted(SMALL) == sorted(name for record in RECORDS for name in names(record))
    assert set(DIFFERENT) < set(SMALL)
