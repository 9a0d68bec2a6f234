"""Which lanes of a warp are together when groups of them give way, as on an H200 (measurements/h200/yielding.csv).

CUDA has no word for YIELD: the kernels say `pmevent`, and its machine code is replaced.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from launches import KERNELS
from numpy.typing import NDArray

import warplens as wl
from warplens.emulator import Access

RECORD = Path(__file__).parents[2] / "measurements" / "h200" / "yielding.csv"
WARPS, STEPS = 12, 128
CONTROL = 105  # bits below hold the instruction, those above how long it waits
YIELD = 0x38000000000000000007946


@cache
def module() -> wl.Module:
    made = wl.compile(KERNELS / "yielding.cu", arch="sm_90")
    code = made.cubin.data
    for word in {i.encoding for name in made for i in made[name].program.instructions if i.base == "PMTRIG"}:
        instead = word >> CONTROL << CONTROL | YIELD
        code = code.replace(word.to_bytes(16, "little"), instead.to_bytes(16, "little"))
    return wl.load(code)


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


def order(name: str) -> list[list[str]]:
    """Of each warp what it stamps: which step, and which lanes take it together."""
    log = np.zeros((WARPS, STEPS, 32, 2), np.uint32)
    run = module()[name].launch(WARPS, 32, words(), log, threads=1)
    assert run.again is not None
    base = run.again.memory.allocations[1].address
    orders: list[list[str]] = [[] for _ in range(WARPS)]
    for step in run.steps(list(range(WARPS))):
        if isinstance(step, Access) and step.bytes == 8:
            places = {lane: (at - base) // 8 for lane, at in step.reached.items()}
            (found,) = {int(log.reshape(-1, 2)[place, 1]) for place in places.values()}
            orders[step.block].append(f"{found}:{sum(1 << lane for lane in places):08x}")
    return orders


def measured(name: str) -> list[list[str]]:
    rows = [line.split(",") for line in RECORD.read_text(encoding="utf-8").splitlines()]
    return [row[2].split() for row in rows if row[0] == name]


@pytest.mark.parametrize("name", ["y_top", "y_mid", "y_outer", "y_if"])
def test_order_as_on_an_h200(name: str) -> None:
    """The other kernels of the file differ in some warps, which is open (docs/executor.md)."""
    assert order(name) == measured(name)
