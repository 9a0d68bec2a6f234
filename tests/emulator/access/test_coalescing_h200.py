"""The executor against what an H200 counted for every access pattern (measurements/h200/access_patterns.csv)."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

from helpers.access_patterns import launches
from helpers.kernel_launches import kernel

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "access_patterns.csv"
KERNELS = sorted({name for name, *_ in launches()})
# Not explained yet (measurements/README.md): which lane of a bank wins.
WINNER = {
    "smsp__inst_executed.sum",
    "smsp__inst_executed_op_branch.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum",
}


@cache
def measured() -> dict[tuple[str, str], dict[str, float]]:
    with MEASURED.open() as file:
        rows = list(csv.DictReader(file))
    return {
        (row["kernel"], row["pattern"]): {k: float(v) for k, v in row.items() if k not in ("kernel", "pattern") and v}
        for row in rows
    }


@pytest.mark.every(7)
@pytest.mark.parametrize("name", KERNELS)
def test_counts(name: str) -> None:
    compared = 0
    for title, pattern, (grid, block), arguments, shared in launches():
        if title != name:
            continue
        run = kernel("patterns.cu", name, "sm_90").launch(grid, block, *arguments, shared=shared, threads=1)
        for metric, value in measured()[name, pattern].items():
            if metric not in run.metrics or (name == "atoms_float" and metric in WINNER):
                continue
            assert run[metric] == pytest.approx(value, abs=0.0051), (pattern, metric)
            compared += 1
    assert compared > 500
