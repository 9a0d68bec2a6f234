"""Selection: which of the collected tests run, by their positions in their files.

`make test` runs every 499th of a file's long cases, and of a test marked `every(n)` one of n successive cases;
`--long` all of them.  A case that can run in both tiers (execution_tiers.py) runs in one of them; one that is not long
runs in both with `--long`.  A test that is named on the command line (file::test) runs as it is named.

499 is odd and no multiple of the number of architectures, so that each of them gets its share of the sample;
tiers alternate in a sequence without a period (Thue-Morse), so that no parameter goes with one tier only.  The one of
n cases is the first of the first n, the second of the second, and so on: each value of a parameter gets its share also
where n is a multiple of the number of values.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

STRIDE, FIRST = 499, 8
TIERS = ("steps", "whole")


def selected(items: list[pytest.Item], long: bool) -> list[pytest.Item]:
    kept = []
    for _, of_file in groupby(items, key=_file):
        positions: dict[bool, dict[str, int]] = {True: {}, False: {}}
        of_tests: dict[str, dict[str, int]] = {}
        for item in of_file:
            is_long = item.get_closest_marker("long") is not None
            known = positions[is_long]
            position = known.setdefault(_case(item), len(known))
            if is_long and not long and position % STRIDE != FIRST:
                continue
            if not is_long and not long and not _sampled(item, of_tests):
                continue
            if (is_long or not long) and _other_tier(item, position):
                continue
            kept.append(item)
    return kept


def _sampled(item: pytest.Item, of_tests: dict[str, dict[str, int]]) -> bool:
    """Whether a case of a test that is not marked `every(n)`, or the one of n.

    of_tests   the cases seen so far of each test of the file, with their positions
    """
    every = item.get_closest_marker("every")
    if every is None:
        return True
    (n,) = every.args
    cases = of_tests.setdefault(item.nodeid.partition("[")[0], {})
    position = cases.setdefault(_case(item), len(cases))
    return bool(position % n == position // n % n)


def _file(item: pytest.Item) -> Path:
    return item.path


def _case(item: pytest.Item) -> str:
    """The test and its parameters, whichever the tier."""
    if "tier" not in _parameters(item):
        return item.nodeid
    name, _, parameters = item.nodeid.partition("[")
    parts = parameters.removesuffix("]").split("-")
    parts.remove(_parameters(item)["tier"])
    return f"{name}[{'-'.join(parts)}]"


def _other_tier(item: pytest.Item, position: int) -> bool:
    """Whether the case has two tiers and this is not the one of its position."""
    tier = _parameters(item).get("tier")
    if tier is None or getattr(item.module, "TIERS", TIERS) != TIERS:  # type: ignore[attr-defined]
        return False
    return bool(tier != TIERS[position.bit_count() % 2])


def _parameters(item: pytest.Item) -> dict[str, Any]:
    callspec = getattr(item, "callspec", None)
    return callspec.params if callspec else {}
