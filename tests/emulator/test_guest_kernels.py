"""Guests (tests/kernels/guest_*.cu): each leaves what numpy leaves, and compiles for all architectures."""

from __future__ import annotations

from itertools import cycle

import guest_ladder_truths
import guest_truths
import numpy as np
import pytest
from guest_truths import Array, Wanted
from launches import ARCHITECTURES, module

from validation_lists import the_lists
from warplens.target import Target

launches = the_lists()
SMALL = {case.flags.kernel: case for case in reversed(list(launches.cases(launches.GUESTS)))}
"""Of each guest the first size."""
FILES = sorted({case.file.name for case in SMALL.values()})
ELSEWHERE = [arch for arch in ARCHITECTURES if arch != "sm_90"]
NEAR = {2: 2**-8, 4: 3e-5, 8: 1e-11}
"""Of the largest, by the bytes of a number: roundings, sums in another order, and MUFU."""


def truth(name: str, before: list[object]) -> Wanted:
    lesson = SMALL[name].lesson
    return guest_ladder_truths.TRUTHS[lesson](name, before) if lesson else guest_truths.TRUTHS[name](before)


def check(name: str, arch: str) -> None:
    target: Target = SMALL[name].target()
    before = target.fresh_values()
    after = [value.copy() if isinstance(value, np.ndarray) else value for value in before]
    launch = target.launch
    module(SMALL[name].file.name, arch)[name].launch(launch.grid, launch.block, *after, shared=launch.shared)
    for place, wanted in truth(name, before).items():
        agree(after[place].reshape(-1), wanted.reshape(-1))


def agree(found: Array, wanted: Array) -> None:
    """Integers in every bit; floats, bf16 as its bits too, nearly."""
    if wanted.dtype.kind != "f":
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)
        return
    near = NEAR[found.itemsize]
    numbers = guest_truths.floats(found) if found.dtype == np.uint16 else found
    assert np.abs(numbers - wanted).max() < near * np.abs(wanted).max()


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SMALL))
def test_guest(name: str) -> None:
    check(name, "sm_90")


@pytest.mark.long
@pytest.mark.parametrize(("name", "there"), list(zip(sorted(SMALL), cycle(ELSEWHERE), strict=False)))
def test_elsewhere(name: str, there: str) -> None:
    check(name, there)


@pytest.mark.long
@pytest.mark.parametrize("there", ELSEWHERE)
@pytest.mark.parametrize("file", FILES)
def test_compiles_for_other_architectures(file: str, there: str) -> None:
    guests = {name for name, case in SMALL.items() if case.file.name == file}
    assert set(module(file, there)) == guests


def test_each_guest_has_a_truth_and_rungs_have_the_same_sizes() -> None:
    sizes: dict[str, dict[str, list[tuple[str, ...]]]] = {}
    alone = set()
    for case in launches.cases(launches.GUESTS):
        if case.lesson:
            sizes.setdefault(case.lesson, {}).setdefault(case.flags.kernel, []).append(case.flags.settings)
        else:
            alone.add(case.flags.kernel)
    assert alone == set(guest_truths.TRUTHS)
    assert set(sizes) == set(guest_ladder_truths.TRUTHS)
    for rungs in sizes.values():
        first, *others = rungs.values()
        assert len(others) >= 2
        assert all(other == first for other in others)
