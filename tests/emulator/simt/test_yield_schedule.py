"""Yields in loops that sleep or spin: order step by step as on an H200 (measurements/h200/giving_way.csv)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import kernel
from warplens.emulator import LaneAccess

ROOT = Path(__file__).parents[3]
WARPS, STEPS = 24, 64
Order = list[str]


def words() -> NDArray[np.uint32]:
    """How often each lane goes round in its lowest three bits: in the first eight warps 1 or 4 times."""
    random = np.random.default_rng(11)
    x = random.integers(0, 1 << 24, (48, 32), dtype=np.uint32)
    x[:8] = x[:8] & ~np.uint32(7) | random.choice([1, 4], (8, 32)).astype(np.uint32)
    x[8] = np.arange(32) * 8 + (np.arange(32) & 7)
    x[9] = x[8][::-1]
    return x


def measured(name: str) -> list[Order]:
    lines = (ROOT / "measurements" / "h200" / "giving_way.csv").read_text(encoding="utf-8").splitlines()
    return [line.split(",")[2].split() for line in lines if line.startswith(f"{name},")]


def order(name: str) -> list[Order]:
    """Of each warp what it stamps: which step, and which lanes take it together."""
    log = np.zeros((48, STEPS, 32, 2), np.uint32)
    more = [np.zeros(48 * 64, np.uint32)] if name == "spins" else []
    run = kernel("giving_way.cu", name, "sm_90").launch(48, 32, words(), log, *more, threads=1)
    assert run.again is not None
    base = run.again.memory.allocations[1].address
    orders: list[Order] = [[] for _ in range(WARPS)]
    for step in run.steps(list(range(WARPS))):
        if isinstance(step, LaneAccess) and step.bytes == 8:
            places = {lane: (at - base) // 8 for lane, at in step.reached.items()}
            warp = next(iter(places.values())) // (STEPS * 32)
            found = {int(log[warp, place % (STEPS * 32) // 32, lane, 1]) for lane, place in places.items()}
            orders[warp].append(f"{min(found)}:{sum(1 << lane for lane in places):08x}")
    return orders


@pytest.mark.every(7)
@pytest.mark.parametrize("name", ["naps_alike", "naps_of_lanes", "spins"])
def test_order_as_on_an_h200(name: str) -> None:
    assert order(name) == measured(name)
