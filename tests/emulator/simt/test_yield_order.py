"""Round robin: the order of two to eight groups of lanes that yield, as on an H200 (measurements/h200/turns.csv)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.yield_traces import measured, order, with_yields

WARPS, STEPS = 28, 64


def words() -> NDArray[np.uint32]:
    """Of each lane its leaf, and how often it goes round there: two groups, three, ... eight, then two again."""
    random = np.random.default_rng(77)
    result = np.zeros((WARPS, 32, 4), np.uint32)
    for warp in range(WARPS):
        groups = 2 + warp % 7
        leaves = random.permutation(8)[:groups]
        trips, fourth = random.integers(1, 5, 8), random.integers(0, 4, 8)
        third, _ = random.integers(0, 3, 8), random.integers(0, 256, 8)
        share = random.dirichlet(np.ones(groups) * random.choice([0.5, 1, 5]))
        of = np.concatenate([np.arange(groups), random.choice(groups, 32 - groups, p=share)])
        leaf = leaves[random.permutation(of)]
        result[warp] = np.stack([leaf, trips[leaf], third[leaf], fourth[leaf]], axis=1)
    return result


def rounds() -> NDArray[np.uint32]:
    """For the loop in a loop: of each leaf how often it goes round in each of four rounds, two bits each."""
    result = words()
    table = np.random.default_rng(3).integers(0, 256, (WARPS, 8))
    result[:, :, 1] = table[np.arange(WARPS)[:, None], result[:, :, 0]]
    return result


OPEN = {"nest": {20}}  # warps that take another order here


@pytest.mark.every(5)
@pytest.mark.parametrize("name", ["one", "three", "exit", "meet1", "ifs", "loop", "two", "nest"])
def test_turns_as_on_an_h200(name: str) -> None:
    kernel = with_yields("turns.cu")[f"turn_{name}"]
    ours = order(kernel, rounds() if name == "nest" else words(), STEPS)
    there = measured("turns.csv", f"turn_{name}")
    different = {warp for warp, (a, b) in enumerate(zip(ours, there, strict=True)) if a != b}
    assert different == OPEN.get(name, set())
