"""A kernel of a list of launches, run at its first size, beside what numpy leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reference_guests import Array, Wanted, floats

from helpers.kernel_launches import module
from helpers.validation_lists import the_lists
from warplens.commands.target import Target

launches = the_lists()
NEAR = {2: 2**-8, 4: 3e-5, 8: 1e-11}
"""Of the largest, by the bytes of a number: roundings, sums in another order, and MUFU."""
HALF = 0.5 + 1e-3
"""How far a float may be from the integer that it was rounded to."""


def first_sizes(path: Path) -> dict[str, Any]:
    """The first launch of each kernel of a list, by kernel."""
    return {case.flags.kernel: case for case in reversed(list(launches.cases(path)))}


def check(case: Any, arch: str, truth: Callable[[list[object]], Wanted]) -> None:
    target: Target = case.target()
    before = target.fresh_values()
    after = [value.copy() if isinstance(value, np.ndarray) else value for value in before]
    launch = target.launch
    module(case.file.name, arch)[case.flags.kernel].launch(launch.grid, launch.block, *after, shared=launch.shared)
    for place, wanted in truth(before).items():
        agree(after[place].reshape(-1), wanted.reshape(-1))


def agree(found: Array, wanted: Array) -> None:
    """Integers in every bit, but where they are wanted before rounding; floats, bf16 as its bits too, nearly."""
    if wanted.dtype.kind != "f":
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)
    elif found.dtype.kind == "i":
        assert np.abs(found - wanted).max() < HALF
    else:
        numbers = floats(found) if found.dtype == np.uint16 else found
        assert np.abs(numbers - wanted).max() < NEAR[found.itemsize] * np.abs(wanted).max()


def same_sizes(path: Path) -> tuple[set[str], set[str]]:
    """Of a list the kernels that are no rungs, and its lessons; the rungs of each have the same sizes."""
    sizes: dict[str, dict[str, list[tuple[str, ...]]]] = {}
    alone = set()
    for case in launches.cases(path):
        if case.lesson:
            sizes.setdefault(case.lesson, {}).setdefault(case.flags.kernel, []).append(case.flags.settings)
        else:
            alone.add(case.flags.kernel)
    for rungs in sizes.values():
        first, *others = rungs.values()
        assert len(others) >= 2
        assert all(other == first for other in others)
    return alone, set(sizes)
