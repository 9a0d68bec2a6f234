"""Ladders: every rung leaves what numpy leaves, and compiles for all architectures."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.execution_tiers import pytest_generate_tests, tier
from helpers.kernel_launches import ARCHITECTURES, module
from validation.ladders.reference_ladders import TRUTHS
from validation.lists import LISTS

__all__ = ["pytest_generate_tests", "tier"]
SMALL = LISTS["ladders"].first_cases()
FILES = sorted({case.file.name for case in SMALL.values()})
ELSEWHERE = [arch for arch in ARCHITECTURES if arch != "sm_90"]
NEAR = 2e-5  # of the largest: sums of 1,024 floats in another order


def check(rung: str, arch: str) -> None:
    target = SMALL[rung].target()
    before = target.fresh_values()
    after = [value.copy() if isinstance(value, np.ndarray) else value for value in before]
    launch = target.launch
    module(SMALL[rung].file.name, arch)[rung].launch(launch.grid, launch.block, *after, shared=launch.shared)
    for place, wanted in TRUTHS[SMALL[rung].lesson](rung, before).items():
        found = after[place].reshape(-1)
        if found.dtype.kind == "f":
            assert np.abs(found - wanted).max() < NEAR * np.abs(wanted).max()
        else:
            assert found.dtype == wanted.dtype
            assert np.array_equal(found, wanted)


@pytest.mark.every(7)
@pytest.mark.long
@pytest.mark.parametrize("rung", sorted(SMALL))
def test_rung(rung: str) -> None:
    check(rung, "sm_90")


@pytest.mark.long
@pytest.mark.parametrize("there", ELSEWHERE)
@pytest.mark.parametrize("file", FILES)
def test_on_other_architectures(file: str, there: str) -> None:
    for rung, case in SMALL.items():
        if case.file.name == file:
            check(rung, there)


def test_a_lesson_has_a_truth_and_rungs_of_the_same_sizes() -> None:
    sizes: dict[str, dict[str, list[tuple[str, ...]]]] = {}
    for case in LISTS["ladders"].cases():
        sizes.setdefault(case.lesson, {}).setdefault(case.flags.kernel, []).append(case.flags.settings)
    assert set(sizes) == set(TRUTHS)
    for rungs in sizes.values():
        assert 3 <= len(rungs) <= 6
        first, *others = rungs.values()
        assert len(first) == 2
        assert all(other == first for other in others)
