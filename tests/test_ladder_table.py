"""The table of docs/validation.md that tells how ladders are put in order."""

from __future__ import annotations

from types import ModuleType

import pytest

from validation_lists import module_of


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
