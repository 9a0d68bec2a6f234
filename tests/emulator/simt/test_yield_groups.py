"""Yields: which lanes run together when groups of them yield, as on an H200 (measurements/h200/yielding.csv)."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.yield_traces import RECORDS, measured, order, with_yields

WARPS, STEPS = 12, 128


def words() -> NDArray[np.uint32]:
    """Four numbers a lane that decide its way: in warp after warp two, three, ... six different ones, then 32."""
    random = np.random.default_rng(5)
    result = np.zeros((WARPS, 32, 4), np.uint32)
    for warp in range(WARPS):
        kinds = warp % 6 + 2 if warp % 6 < 5 else 32
        values = random.integers(0, 1 << 32, (kinds, 4), dtype=np.uint64).astype(np.uint32)
        of = np.arange(32)
        if kinds < 32:
            more = random.choice(kinds, 32 - kinds, p=random.dirichlet(np.ones(kinds)))
            of = random.permutation(np.concatenate([np.arange(kinds), more]))
        result[warp] = values[of]
    return result


EQUAL = ["top", "mid", "outer", "if", "ifs", "ifs2", "ifloop", "two", "two_sync", "hash", "nest", "nest0"]
EQUAL += ["both", "three"]


@pytest.mark.every(4)
@pytest.mark.parametrize("name", EQUAL)
def test_order_as_on_an_h200(name: str) -> None:
    """The other kernels of the file differ in some warps, which is open (docs/executor.md)."""
    kernel = with_yields("yielding.cu")[f"y_{name}"]
    assert order(kernel, words(), STEPS) == measured("yielding.csv", f"y_{name}")


def test_order_in_most_warps() -> None:
    """One warp of 32 groups takes another order."""
    kernel = with_yields("yielding.cu")["y_branchy"]
    ours, there = order(kernel, words(), STEPS), measured("yielding.csv", "y_branchy")
    assert sum(a == b for a, b in zip(ours, there, strict=True)) >= 11


COUNTED = list(csv.DictReader((RECORDS / "yielding_counts.csv").read_text(encoding="utf-8").splitlines()[1:]))
OPEN = {("branchy", 4), ("branchy", 5), ("break", 3), ("elseloop", 1), ("ifloop", 1), ("nest", 4), ("three", 4)}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", sorted({row["kernel"] for row in COUNTED}))
def test_counts_as_on_an_h200(name: str) -> None:
    """Issues, branches and threads of each warp alone; what is open is a meeting issued once more or less."""
    kernel, log = with_yields("yielding.cu")[name], np.zeros((1, STEPS, 32, 2), np.uint32)
    for row in (row for row in COUNTED if row["kernel"] == name):
        warp = int(row["warp"])
        run = kernel.launch(1, 32, words()[warp : warp + 1], log.copy(), threads=1)
        equal = all(run[metric] == float(value) for metric, value in row.items() if "__" in metric)
        assert equal != ((name.removeprefix("y_"), warp) in OPEN), (name, warp)
