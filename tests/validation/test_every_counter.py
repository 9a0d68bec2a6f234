"""Every `exact` metric of 40 launches beside an H200 (measurements/h200/every_counter.csv)."""

from __future__ import annotations

import csv

import pytest
from every_counter import FOLDER, LAUNCHES, RECORD

from helpers.hardware_counters import known_differences
from warplens.commands.target import Flags, targets
from warplens.commands.validate import HUNDREDTH, Emulated, identity, read_record
from warplens.core.run_options import USUAL
from warplens.counters.metric_collection import formulas

KEPT = read_record(str(RECORD))
SUMS = [f"memory_{name}" for name in ("l1_wavefronts_shared", "l2_theoretical_sectors_global")]
DERIVED = {f"derived__{name}_excessive": lambda row, name=name: row[name].value - row[f"{name}_ideal"].value
           for name in SUMS}  # fmt: skip
DERIVED["derived__smsp__inst_executed_op_branch_pct"] = lambda row: (
    100 * row["smsp__inst_executed_op_branch.sum"].value / row["smsp__inst_executed.sum"].value
)
"""Nsight Compute has them in its reports, and does not collect them by name: what they are of others."""
RECORDS = ("every_counter.csv", "matrix_patterns.csv", "texture_counters.csv", "tensor_counters.csv",
           "tensor_copy_counters.csv")  # fmt: skip
FILES = {kernel: file for file, kernels in LAUNCHES.items() for kernel in kernels.split()}


@pytest.mark.every(5)
@pytest.mark.parametrize("kernel", [name if name == "labels" else pytest.param(name, marks=pytest.mark.long)
                                    for name in FILES])  # fmt: skip
def test_counts_as_on_an_h200(kernel: str) -> None:
    (target,) = targets(str(FOLDER / f"{FILES[kernel]}.cu"), Flags(kernel=kernel))
    done = Emulated(target, USUAL, None)
    row = KEPT[identity(done.title, done.launch)]
    exact = {name: m.value for name, m in done.run.metrics.items() if m.provenance == "exact"}
    there = {name: m.value for name, m in row.items()} | {name: of(row) for name, of in DERIVED.items()}
    different = {n: (v, there[n]) for n, v in exact.items() if n in there and abs(v - there[n]) > HUNDREDTH}
    known = known_differences(RECORD.stem).get(kernel, {"counters": []})
    assert sorted(different) == known["counters"], different
    assert len(exact.keys() & there.keys()) > 100


def test_every_exact_counter_was_measured() -> None:
    measured = set(DERIVED) | {"derived__memory_l1_conflicts_shared_nway"}  # wavefronts / instructions, both measured
    for record in RECORDS:
        with RECORD.with_name(record).open(encoding="utf-8") as file:
            measured |= set(next(csv.reader(line for line in file if not line.startswith("#"))))
    assert {f.name for f in formulas("sm_90") if f.provenance == "exact"} <= measured
