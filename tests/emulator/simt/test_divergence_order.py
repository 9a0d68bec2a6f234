"""Divergence: the order of splits and the counters, as on an H200 (measurements/h200/parting.csv, order.csv)."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from test_divergence_results import loop_input

import warplens as wl
from helpers.kernel_launches import kernel

MEASURED = Path(__file__).parents[3] / "measurements" / "h200"
COUNTED = ("recurse", "p_loop", "p_two", "p_exit", "p_nest", "warpsync_parts", "shuffle_parts")
OPEN = ("6 2 7 3 7 0 5", "0 6 6 2 4 3 2", "4 6 3 2 1 2 1")  # of `recurse`: 0 to 2 issues of BSYNC too few
SLOTS = 4096  # of each array when it was measured


@cache
def rows(file: str) -> list[dict[str, str]]:
    with (MEASURED / file).open() as table:
        return list(csv.DictReader(table))


def numbers(text: str) -> np.ndarray:  # type: ignore[type-arg]
    return np.array(text.split(), np.int32)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", COUNTED)
def test_issues_and_their_lanes(name: str) -> None:
    measured = [row for row in rows("parting.csv") if row["kernel"] == name and not row["values"].startswith(OPEN)]
    assert len(measured) >= 7
    for row in measured:
        values = numbers(row["values"])
        arrays = [np.zeros(SLOTS, np.int32) for _ in range(4)]
        arrays[0][: values.size] = values
        run = kernel("parting.cu", name, "sm_90").launch(1, values.size, *arrays, threads=1)
        counted = {metric: run[metric] for metric in row if metric.startswith("smsp__")}
        assert counted == {metric: int(row[metric]) for metric in counted}, row["values"]


@pytest.mark.parametrize("name", ["two_sides", "leaving", "cases", "pointers"])
def test_order(name: str) -> None:
    """64 warps with different values; each group of lanes takes the next number of its warp."""
    measured = [row for row in rows("order.csv") if row["kernel"] == name]
    values, want = (np.concatenate([numbers(row[column]) for row in measured]) for column in ("values", "turns"))
    turns, out = np.zeros_like(values), np.zeros_like(values)
    kernel("order.cu", name, "sm_90").launch(values.size // 32, 32, values, turns, out, threads=1)
    for warp, (got, wanted) in enumerate(zip(turns.reshape(-1, 32), want.reshape(-1, 32), strict=True)):
        assert got.tolist() == wanted.tolist(), (warp, measured[warp]["values"])


def of_a_switch() -> wl.Run:
    """The launch of test_call_kernels.py::test_sw: lanes of a jump with many targets part again behind it."""
    n, threads, rng = 100, 64, np.random.default_rng(2)
    a = rng.choice(np.array([0, 1, 2, 3, 4, 5, 6, 10, -1], np.int32), threads)
    a[60:] = 8
    o = (rng.random(2 * n) * 4 + 1).astype(np.float32)
    return kernel("k19_switch.cu", "sw", "sm_90").launch(1, threads, a, o, n)


def of_long_loops() -> wl.Run:
    """That of test_divergence_kernels.py::test_loops_in_warps: one lane runs for 1.1 million instructions while others
    of its warp are ready."""
    n = 75
    a, o = loop_input(np.random.default_rng(3), n), np.full(n + 10, -1, np.int32)
    return kernel("k18_divergence.cu", "loops", "sm_90").launch(1, n, a, o, n)


@pytest.mark.parametrize(("test", "launched"), [("test_sw", of_a_switch), ("test_loops_in_warps", of_long_loops)])
def test_lanes_of_a_whole_kernel(test: str, launched: Callable[[], wl.Run]) -> None:
    (measured,) = (row for row in rows("validation.csv") if row["test"].endswith(f"::{test}[sm_90]"))
    run, names = launched(), [name for name in measured if name.startswith("smsp__") and "sass" not in name]
    assert {name: run[name] for name in names} == {name: float(measured[name]) for name in names}
    assert len(names) > 3
