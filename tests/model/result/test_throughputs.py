"""The `.throughput` metrics beside Nsight Compute's, and how the compound ones hang together."""

from __future__ import annotations

import csv
import statistics

import pytest

from validation.lists import FOLDER, kernels

SUFFIX = ".avg.pct_of_peak_sustained_elapsed"
# Of a launch: most of its time goes to DRAM, to L1, to the SM, to L2.
SAMPLE = ("add4 2^20", "matmul_coarse2 256", "reduce_sequential 2^18", "gs 2^20")
# Points between prediction and measurement: the p90 of all 75 launches of the list (docs/mechanisms/throughputs.md).
POINTS = {
    "sm__throughput": 4.0,
    "l1tex__throughput": 6.0,
    "lts__throughput": 12.0,
    "gpu__compute_memory_throughput": 6.0,
}


def measured() -> dict[str, dict[str, str]]:
    with (FOLDER / "first" / "h200" / "throughputs.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def errors() -> dict[str, list[float]]:
    rows, found = measured(), {unit: list[float]() for unit in POINTS}
    for wanted, kernel in kernels(["--first", *SAMPLE]):
        run = kernel.launch(wanted.grid, wanted.block, *wanted.arguments(), shared=wanted.shared)
        metrics = run.predict("h200").metrics
        for unit in POINTS:
            assert metrics[unit + SUFFIX].provenance == "modelled"
            found[unit].append(metrics[unit + SUFFIX].value - float(rows[wanted.name][unit + SUFFIX]))
    return found


@pytest.mark.parametrize("unit", POINTS)
def test_as_nsight_compute(errors: dict[str, list[float]], unit: str) -> None:
    off = [abs(error) for error in errors[unit]]
    assert len(off) == len(SAMPLE)
    assert max(off) <= POINTS[unit]
    assert statistics.median(off) <= POINTS[unit] / 2
