"""The pipe of each opcode, as an H200 counts them (measurements/h200/pipe_counts.csv: instructions of a warp by pipe,
in kernels of one line of PTX each)."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from ptx_forms import forms, module

from warplens.isa._decode import bind

COUNTED = {"alu": "alu", "xu": "xu", "fp64": "fp64", "cbu": "cbu", "fma": "fma", "fma_heavy": "fma", "fp16": "fma"}
"""Sums of halves are done by fma_heavy and counted as fma."""
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
        ours = Counter(
            COUNTED[binding.op.pipe]
            for instruction in code
            if (binding := bind(instruction)) and binding.op.pipe in COUNTED and not instruction.opcode.startswith("U")
        )
        row = MEASURED[form.line]
        assert len(code) == int(row["instructions"]), form.line
        assert {pipe: ours[pipe] for pipe in set(COUNTED.values())} == {
            pipe: int(row[pipe]) for pipe in set(COUNTED.values())
        }, form.line
    assert straight > 60
