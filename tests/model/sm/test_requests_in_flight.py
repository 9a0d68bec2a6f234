"""Requests in flight: loads that wait for a line at most, compared with what an H200 took."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.programs import module_of

ROWS = Path(__file__).parents[3] / "measurements" / "h200" / "requests_in_flight.csv"
# bytes, unrolled, blocks an SM, warps, warps that ask for the same lines, lanes for the same word
CASES = [
    (4, 16, blocks, 8, together, 1)
    for blocks, together in ((1, 8), (4, 8), (5, 8), (6, 8), (8, 8), (6, 4), (8, 4), (8, 2))
] + [(4, 16, 8, 8, 8, 32), (4, 8, 8, 8, 8, 1)]


def measured() -> dict[tuple[int, ...], float]:
    keys = ("bytes", "unrolled", "blocks", "warps", "together", "same")
    with ROWS.open(encoding="utf-8") as file:
        return {tuple(int(r[k]) for k in keys): float(r["us"]) for r in csv.DictReader(file) if r["every"] == "1"}


@pytest.fixture(scope="module")
def module(monkeypatch_module: pytest.MonkeyPatch) -> wl.Module:
    monkeypatch_module.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks" / "measurements"))
    return wl.compile(source=module_of("benchmarks/measurements/requests_in_flight.py", "requests_in_flight").SOURCE)


@pytest.fixture(scope="module")
def monkeypatch_module() -> pytest.MonkeyPatch:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.mark.every(9)
@pytest.mark.parametrize("case", CASES)
def test_loads_that_wait_for_the_same_lines_wait_for_slots_too(module: wl.Module, case: tuple[int, ...]) -> None:
    """Without a limit the last of these take a third less than an H200."""
    _, unrolled, blocks, warps, together, same = case
    n = 132 * blocks * (warps // together) * 32
    numbers = [np.int32(i) for i in (n, 512, together, same, 1)]
    arrays = np.zeros(512 * n, np.float32), np.zeros(1024, np.float32)
    run = module[f"requests_4_{unrolled}"].launch(132 * blocks, (32, warps), *arrays, *numbers)
    assert run.predict("h200").time_us == pytest.approx(measured()[case], rel=0.1)
