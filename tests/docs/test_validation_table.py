"""The table of docs/validation.md that tells how ladders are put in order."""

from __future__ import annotations

from types import ModuleType

import pytest

from helpers.programs import module_of


@pytest.fixture(scope="module")
def table() -> ModuleType:
    return module_of("docs/validation_table.py", "validation_table")


def test_order_and_choice_by_ladder_and_size(table: ModuleType) -> None:
    """Rungs of 100, 50, 20 and 20.1 us, the third predicted slower than the second; a ladder by itself."""
    times = {"walk n=1": [(90, 100), (45, 50), (48, 20), (60, 20.1)], "blur n=1": [(5, 5), (6, 6)]}
    rungs = [
        table.Launch(f"{family[:4]}_{k}/n=1", {"family": family, "time_us": str(said)}, {"cold_us": str(took)})
        for family, pairs in times.items()
        for k, (said, took) in enumerate(pairs)
    ]
    walk, blur = list(table.ladders({table.LADDERS: rungs}))[2:]
    assert walk == "| walk n=1 | 4 | 75.0 % | 198.5 % | 0.20 (5) | `walk_1`: 150 % |"
    assert blur == "| blur n=1 | 2 | 0.0 % | 0.0 % | 1.00 (1) | `blur_0`: 0 % |"


def test_guests_by_length_and_those_that_are_no_rungs(table: ModuleType) -> None:
    """Three rungs of one ladder, of 10, 20 and 400 us, and a kernel by itself of 100, predicted a tenth too long."""
    times = {"a n=1": [10.0, 20.0, 400.0], "": [100.0]}
    guests = [
        table.Launch("", {"family": family, "time_us": str(1.1 * took), "low_us": "0", "high_us": "99"}, measured)
        for family, all_took in times.items()
        for took in all_took
        for measured in [{"cold_us": str(took)}]
    ]
    rows = [line.split(" | ") for line in table.lengths({table.GUESTS: guests})][2:]
    assert [(row[0].removeprefix("| "), row[1], row[7]) for row in rows] == [
        ("rungs of ladders", "3", "2"), ("kernels by themselves", "1", "0"), ("below 30 µs", "2", "2"),
        ("30 to 300 µs", "1", "0"), ("from 300 µs", "1", "0"),
    ]  # fmt: skip
    assert all(row[2] == row[5] == "10.0 %" for row in rows)
    (ladder,) = list(table.ladders({table.GUESTS: guests}, table.GUESTS))[2:]
    assert ladder.startswith("| a n=1 | 3 | 10.0 % |")
