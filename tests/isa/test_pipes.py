"""The pipe of each opcode, as an H200 counts them (measurements/h200/pipe_counts.csv: instructions of a warp by pipe,
in kernels of one line of PTX each)."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from ptx_forms import forms, module

from warplens.model.result.rates import COUNTED_BY, counted_by

PIPES = sorted(set(COUNTED_BY.values()))
PARTING = ("BRA", "CALL", "BSSY", "BRX")
with (Path(__file__).parents[2] / "measurements" / "h200" / "pipe_counts.csv").open(encoding="utf-8") as file:
    MEASURED = {row["ptx"]: row for row in csv.DictReader(file)}


def test_as_an_h200_counts_them() -> None:
    made, lines = module([form for form in forms() if form.line in MEASURED], "sm_90")
    assert made is not None
    straight = 0
    for form in lines:
        code = made[form.kernel].program.instructions
        code = code[: 1 + next(n for n, instruction in enumerate(code) if instruction.opcode == "EXIT")]
        if any(instruction.base in PARTING for instruction in code):
            continue
        straight += 1
        ours = Counter(map(counted_by, code))
        row = MEASURED[form.line]
        assert len(code) == int(row["instructions"]), form.line
        assert {pipe: ours[pipe] for pipe in PIPES} == {pipe: int(row[pipe]) for pipe in PIPES}, form.line
    assert straight > 60
