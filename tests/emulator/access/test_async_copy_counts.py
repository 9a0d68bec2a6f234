"""Asynchronous copies beside loads and stores of shared memory, against what an H200 counted
(measurements/h200/copies_beside.csv).

Where the instruction holds a part of the address in shared memory (kernels `..._at`), Nsight Compute 2025.3.1 counts
the bytes of one lane for most copies and of all lanes for some, others in each run: its bytes, and what follows from
them, are no reference there.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from helpers.kernel_launches import kernel

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "copies_beside.csv"
LAUNCH = ("kernel", "blocks", "threads", "rounds", "copies", "loads", "stores", "to", "step")
SHARED = 40960
BYTES = "smsp__sass_data_bytes_mem_shared"
WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"
RATIO = "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"


def measured() -> dict[tuple[str, ...], list[dict[str, float]]]:
    """By launch, what each of its runs counted."""
    found: dict[tuple[str, ...], list[dict[str, float]]] = {}
    with MEASURED.open() as file:
        for row in csv.DictReader(file):
            launch = tuple(row.pop(name) for name in LAUNCH)
            found.setdefault(launch, []).append({name: float(value) for name, value in row.items()})
    return found


KERNELS = sorted({launch[0] for launch in measured()})


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.long] * ("16" in n and "by" not in n)) for n in KERNELS]
)
def test_counts(name: str) -> None:
    for launch, runs in measured().items():
        if launch[0] != name:
            continue
        blocks, threads, rounds, copies, *others = map(int, launch[1:])
        data = np.zeros(blocks * rounds * copies * 16 * threads, np.int8)
        out = np.zeros(blocks * threads, np.float32)
        numbers = [np.int32(each) for each in (rounds, copies, *others)]
        run = kernel("copies.cu", name, "sm_90").launch(blocks, threads, data, out, *numbers, shared=SHARED, threads=1)
        for metric in runs[0]:
            said = [counted[metric] for counted in runs]
            if name.endswith("_at") and (metric == RATIO or metric.startswith(BYTES)):
                assert metric not in run.metrics or run[metric] > max(said), (launch, metric)
            elif metric in run.metrics:
                assert said == pytest.approx([run[metric]] * len(said), abs=0.0051), (launch, metric)


def test_what_nsight_compute_counts_of_copies_with_an_offset_differs_between_runs_of_one_launch() -> None:
    copied = f"{BYTES}_op_ldgsts.sum"
    for launch, runs in measured().items():
        said = {counted[copied] for counted in runs}
        assert (len(said) > 1) <= launch[0].endswith("_at")
        if launch[0] == "bypass_16_at":
            lane, row = 16, 512  # bytes that a warp's copy is taken for
            copies = runs[0][WAVEFRONTS] // 4
            assert all((bytes - lane * copies) % (row - lane) == 0 for bytes in said), launch
            assert max(said) < row * copies / 10, launch
