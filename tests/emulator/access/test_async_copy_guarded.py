"""Asynchronous copies with a guard, against what an H200 counted (measurements/h200/guarded_copies.csv).

The code with which Nsight Compute 2025.3.1 counts copies past L1 takes P0 for false: it never sees a copy with the
guard @P0, and one with @!P0 always in all lanes.  With other predicates, through L1, and in the hardware's own counters
all is as it is here.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from helpers.kernel_launches import kernel

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "guarded_copies.csv"
LAUNCH = ("kernel", "lanes", "others", "elements")
LANES = np.arange(32)
ELEMENTS = {"row": (LANES, LANES), "same": (0 * LANES + 3, 0 * LANES + 5), "far": (9 * LANES % 128, 3 * LANES % 128)}
TYPES = {"guarded_ca_4": np.int32, "guarded_ca_8": np.int64}
FOOLED = {
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct",
    "smsp__sass_sectors_mem_global.sum",
}
WAVEFRONTS, SECTORS = "memory_l1_wavefronts_shared", "smsp__sass_sectors_mem_global.sum"


def rows() -> list[dict[str, str]]:
    with MEASURED.open() as file:
        return list(csv.DictReader(file))


def switched(lanes: str) -> np.ndarray:
    return (int(lanes, 16) >> LANES & 1).astype(np.int32)


def arguments(row: dict[str, str]) -> list[np.ndarray | np.int32]:
    name, on = row["kernel"], switched(row["lanes"])
    kind = np.dtype(TYPES.get(name, np.complex128))
    data = np.arange(256 * kind.itemsize).astype(np.uint8).view(kind)
    if name.startswith("guarded"):
        element, place = (each.astype(np.int32) for each in ELEMENTS[row["elements"]])
        return [on, element, place, data, np.zeros(32, kind), np.int32(1)]
    return [np.concatenate([on, switched(row["others"]), 1 - on]), data, np.zeros(64, kind)]


@pytest.mark.every(3)
@pytest.mark.parametrize("name", sorted({row["kernel"] for row in rows()}))
def test_counts(name: str) -> None:
    for row in rows():
        if row["kernel"] != name:
            continue
        run = kernel("guarded.cu", name, "sm_90").launch(1, 32, *arguments(row), threads=1)
        past_l1 = "_ca_" not in name
        for metric in set(row) - set(LAUNCH):
            if metric in run.metrics and not (past_l1 and metric in FOOLED):
                assert run[metric] == pytest.approx(float(row[metric]), abs=0.0051), (row["lanes"], metric)


def test_what_nsight_compute_sees_of_a_copy_past_l1_does_not_depend_on_p0() -> None:
    for name, passes in (("guard_0", 20), ("guard_1", 24)):
        assert {int(row[WAVEFRONTS]) for row in rows() if row["kernel"] == name} == {passes}
    seen: dict[tuple[str, str], set[str]] = {}
    for row in rows():
        if row["kernel"] == "guard_2" and row["lanes"] != "2000":
            unlike = switched(row["lanes"]).sum()  # the third copy is of the lanes that the first leaves out
            seen.setdefault((row["others"], str(unlike)), set()).add(row[SECTORS])
    assert all(len(found) == 1 for found in seen.values())
