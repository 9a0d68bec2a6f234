"""A kernel of a validation list, run at its first size, beside what numpy leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.kernel_launches import module
from validation.lists import Case
from warplens.commands.target import Target

Array = NDArray[Any]
Wanted = dict[int, Array]
"""Arrays by the place of the argument."""
NEAR = {2: 2**-8, 4: 3e-5, 8: 1e-11}
"""Of the largest, by the bytes of a number: roundings, sums in another order, and MUFU."""
HALF = 0.5 + 1e-3
"""How far a float may be from the integer that it was rounded to."""


def floats(bf16: Array) -> Array:
    """Of the upper halves of their bits."""
    return (bf16.astype(np.uint32) << 16).view(np.float32)


def check(case: Case, arch: str, truth: Callable[[list[object]], Wanted]) -> None:
    target: Target = case.target()
    before = target.fresh_values()
    after = [value.copy() if isinstance(value, np.ndarray) else value for value in before]
    launch = target.launch
    module(case.file.name, arch)[str(case.flags.kernel)].launch(launch.grid, launch.block, *after, shared=launch.shared)
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
