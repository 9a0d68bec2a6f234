"""Products near the ends of the exponents, as an H200 left them (measurements/h200/near_zero.csv)."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest

with (Path(__file__).parents[2] / "measurements" / "h200" / "near_zero.csv").open(encoding="utf-8") as file:
    MEASURED = defaultdict(list)
    for row in csv.DictReader(file):
        MEASURED[row["opcode"]].append([int(row[name], 16) for name in ("a", "b", "c", "result") if row[name]])


@pytest.mark.parametrize("opcode", MEASURED)
def test_as_an_h200_has_them(engine, opcode):
    *operands, results = (list(column) for column in zip(*MEASURED[opcode], strict=True))
    assert engine.value(opcode, *operands) == results
