"""Instruction cache: long loops, compared with what an H200 took, and code that is there from the start."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import warplens as wl
from helpers.programs import module_of
from warplens.machine import Machine, machine

ROWS = Path(__file__).parents[3] / "measurements" / "h200" / "code_size.csv"
CASES = [  # instructions of the loop, executed of every 128, warps of the SM
    (512, 128, 4), (2048, 128, 8), (4096, 128, 4), (4096, 128, 8), (12288, 128, 4), (12288, 128, 8), (12288, 128, 16),
    (512, 32, 4), (8192, 32, 4),
]  # fmt: skip
QUICK = 4096  # instructions; those of 12,288 take 25 s


@pytest.fixture(scope="module")
def loops() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks" / "measurements"))
        yield module_of("benchmarks/measurements/code_size.py", "code_size")


def cycles(loops: ModuleType, size: int, executed: int, warps: int, gpu: Machine) -> float:
    """Cycles of a sub-partition for an executed instruction, after the first round."""
    kernel = wl.compile(source=loops.COMMON + loops.kernel("one", size, executed))["one"]
    times = []
    for rounds in (1, 2):
        arrays = np.zeros(132, np.uint32), np.zeros(132, np.uint32), np.zeros(1024, np.float32)
        numbers = np.int32(rounds), np.float32(1), np.float32(0), np.int32(-1)
        times.append(replace(kernel.launch(132, 32 * warps, *arrays, *numbers), machine=gpu).predict().time_us)
    return (times[1] - times[0]) * gpu.boost_megahertz / (size * executed / 128 * warps / 4)


@pytest.mark.every(3)
@pytest.mark.parametrize("case", [c if c[0] <= QUICK else pytest.param(c, marks=pytest.mark.long) for c in CASES])
def test_loops_longer_than_a_cache_take_as_long_as_on_an_h200(loops: ModuleType, case: tuple[int, int, int]) -> None:
    with ROWS.open(encoding="utf-8") as file:
        (row,) = (
            row for row in csv.DictReader(file)
            if (int(row["instructions"]), int(row["executed"]), int(row["warps"])) == case
        )  # fmt: skip
    assert cycles(loops, *case, machine("h200")) == pytest.approx(float(row["cycles"]), rel=0.25)


@pytest.mark.long
def test_only_what_the_first_cache_lacks_has_to_come(loops: ModuleType) -> None:
    """Slow fetches change nothing for a loop that fits, and all for one that does not."""
    h200 = machine("h200")
    slow = replace(h200, microarchitecture=replace(h200.microarchitecture, code_near_cycles=100.0))
    assert cycles(loops, 1024, 128, 4, slow) == pytest.approx(cycles(loops, 1024, 128, 4, h200), rel=0.01)
    assert cycles(loops, 4096, 128, 4, slow) == pytest.approx(100 / 8, rel=0.05)
