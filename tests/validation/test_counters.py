"""The validation lists beside what Nsight Compute counted on an H200: each kernel's first launch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.hardware_counters import COUNTED, check, names
from validation.lists import LISTS, Case

ALWAYS = {
    "odd": ("warp_words", "jumps", "laps", "hints", "near_one"),
    "strangers": ("tiles_of_eight", "needle", "queens", "radix_two", "sudoku_rows"),
    "ladders": ("heat_plain",),  # a BREAK with a predicate is on in the lanes that leave
}


def counted() -> Iterator[object]:
    for name in COUNTED:
        for kernel, case in sorted(LISTS[name].first_cases().items()):
            marks = [pytest.mark.long] * (kernel not in ALWAYS.get(name, ()))
            yield pytest.param(name, case, marks=marks, id=kernel)


@pytest.mark.parametrize(("name", "case"), list(counted()))
def test_counts_as_on_an_h200(name: str, case: Case) -> None:
    check(case.target(), name)


@pytest.mark.parametrize("name", COUNTED)
def test_every_kernel_was_counted(name: str) -> None:
    assert sorted(LISTS[name].first_cases()) == sorted(names(COUNTED[name]))
