"""Sector map: colours and their legend."""

from __future__ import annotations

from collections import Counter

import pytest

from warplens.report.access_patterns import BufferUse, NamedBuffer
from warplens.report.html.sector_map import sector_map


@pytest.mark.parametrize(
    ("most", "legend"),
    [
        (1, [(1, "1")]), (3, [(1, "1"), (2, "2-3")]),
        (40, [(1, "1"), (2, "2-3"), (3, "4-7"), (4, "8-15"), (5, "16 and more")]),
    ],
)  # fmt: skip
def test_the_legend_has_the_colours_that_occur(most: int, legend: list[tuple[int, str]]) -> None:
    use = BufferUse(NamedBuffer("x", 0, 4096), Counter({0: 1, 5: most}), {0: 0xFFFFFFFF, 5: 0xFFFFFFFF})
    drawn = sector_map(use)
    assert drawn.legend == legend
    assert {cell.step for cell in drawn.cells} <= {step for step, _ in drawn.legend}
