"""Generic accesses whose lanes reach global, shared and local memory, against what an H200 counted
(measurements/h200/generic.csv).

Where one access reaches global and local memory with up to 4 bytes a lane, the hardware serves some of both kinds in
one pass and counts it as either: its own counters of the two spaces are no reference there, those of the instrumented
code are.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from helpers.kernel_launches import kernel

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "generic.csv"
LAUNCH = ("kernel", "where", "elements", "lanes")
LANES = np.arange(32)
WHERE = {
    "g": 0 * LANES,
    "s": 0 * LANES + 1,
    "l": 0 * LANES + 2,
    "gs_half": (LANES >= 16) * 1,
    "gl_half": (LANES >= 16) * 2,
    "sl_half": 1 + (LANES >= 16),
    "gs_alt": LANES % 2,
    "gl_alt": LANES % 2 * 2,
    "sl_alt": 1 + LANES % 2,
    "three": LANES % 3,
    "quarters": LANES // 8 % 3,
    "one_s": (LANES == 9) * 1,
    "one_l": (LANES == 9) * 2,
    "one_g": (LANES != 9) * 1,
    "r1": np.array([*map(int, "20222112200110002010021201111121")]),
    "r2": np.array([*map(int, "20112120120010202122222012200200")]),
}
RANDOM = "15 13 30 5 18 9 3 11 16 23 22 18 7 17 15 22 2 9 29 29 20 20 12 15 18 9 13 27 28 7 27 26"
ELEMENTS = {
    "row": LANES,
    "same": 0 * LANES + 3,
    "pair": LANES // 2,
    "rand": np.array([*map(int, RANDOM.split())]),
}
TYPES = {"1": np.uint8, "4": np.int32, "8": np.int64, "16": np.complex128}
MIXED = ("l1tex__t_requests", "l1tex__t_sectors")


def rows() -> list[dict[str, str]]:
    with MEASURED.open() as file:
        return list(csv.DictReader(file))


QUICK = ("gld_8", "gst_4")


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.long] * (n not in QUICK)) for n in sorted({row["kernel"] for row in rows()})],
)
def test_counts(name: str) -> None:
    compared = 0
    width = name.partition("_")[2] or "4"
    for row in rows():
        if row["kernel"] != name:
            continue
        _, where, elements, lanes = (row[column] for column in LAUNCH)
        spaces = WHERE[where].astype(np.int32)
        on = np.array([int(lanes, 16) >> lane & 1 for lane in LANES], np.int32)
        data = np.arange(64 * (1 if name.startswith(("gatom", "gred")) else int(width))).astype(np.uint8)
        array = data.astype(np.int32) if name.startswith(("gatom", "gred")) else data.view(TYPES[width])
        out = np.zeros(32, np.int32)
        base = name.partition("_")[0] if name.startswith(("gatom", "gred")) else name
        run = kernel("generic.cu", base, "sm_90").launch(
            1, 32, spaces, ELEMENTS[elements].astype(np.int32), on, array, out, threads=1
        )
        both = {0, 2} <= set(spaces[on == 1].tolist()) and width in ("1", "4")
        for metric, value in row.items():
            if metric in LAUNCH or metric not in run.metrics or (both and metric.startswith(MIXED)):
                continue
            assert run[metric] == pytest.approx(float(value), abs=0.0051), (where, elements, lanes, metric)
            compared += 1
    assert compared > 500
