"""Outputs: of random kernels every change is applied, and both versions are executed.

An "exact" change leaves the same bits; one that adds floats in another order may differ by 1e-5 of the number itself
and of the mean.  Of a reduction by fewer blocks only the total is the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warplens as wl
from transform.random_kernels import KINDS, Example, example, reduction
from warplens.transform import Change, KernelSource, changes
from warplens.transform._change import SAME_LAUNCH, edited

ROUNDING = 1e-5


def launched(source: str, made: Example, change: Change | None = None) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays after a launch."""
    grid, block = made.grid, made.block
    if change is not None:
        grid = change.launch.grid_of(grid)
        block = change.launch.block or block
    given = {name: value.copy() for name, value in made.arguments.items()}
    wl.compile(source=source)["k"].launch(grid, block, *given.values())
    return {name: value for name, value in given.items() if isinstance(value, np.ndarray) and value.ndim}


def check(made: Example, change: Change, before: dict[str, Any], after: dict[str, Any]) -> None:
    for name, expected in before.items():
        found = after[name]
        if change.effect == "exact" or expected.dtype.kind != "f":
            assert found.tobytes() == expected.tobytes(), (change.title, name, edited(made.source, change.edits))
            continue
        wide = expected.astype(np.float64)
        room = ROUNDING * (np.abs(wide) + np.abs(wide).mean())
        assert (np.abs(found - wide) <= room).all(), (change.title, name, edited(made.source, change.edits))


def one_of_each(made: Example, seed: int) -> list[Change]:
    """One change of each transform."""
    found: dict[str, list[Change]] = {}
    for change in changes(KernelSource(made.source, "k"), made.facts):
        if isinstance(change, Change):
            found.setdefault(change.transform, []).append(change)
    return [of_one[seed % len(of_one)] for of_one in found.values()]


def check_seed(kind: Callable[..., Example], seed: int, most: int) -> None:
    made = example(kind, seed)
    before = launched(made.source, made)
    chosen = one_of_each(made, seed)
    assert chosen
    for change in random.Random(seed).sample(chosen, min(most, len(chosen))):
        if not change.edits and change.launch == SAME_LAUNCH:
            pytest.fail(f"{change.title} changes nothing")
        if kind is reduction and change.transform == "several_inputs":
            continue  # it leaves fewer results: `total` tests it
        check(made, change, before, launched(edited(made.source, change.edits), made, change))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_changes_keep_the_outputs_of_a_random_kernel(kind: Callable[..., Example]) -> None:
    check_seed(kind, 1, most=2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_changes_keep_the_outputs_of_many_random_kernels(kind: Callable[..., Example], seed: int) -> None:
    check_seed(kind, seed, most=99)


def test_fewer_blocks_leave_the_same_total() -> None:
    made = example(reduction, 0)
    change = next(c for c in one_of_each(made, 0) if c.transform == "several_inputs")
    before, after = launched(made.source, made), launched(edited(made.source, change.edits), made, change)
    assert change.effect == "order"
    assert "total" in change.promise
    results = made.grid[0] // change.launch.grid_over[0]
    assert after["y"][:results].sum() == pytest.approx(before["y"].sum(), rel=1e-5)
    assert not after["y"][results:].any()
