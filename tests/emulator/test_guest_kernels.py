"""Guests (tests/kernels/guest_*.cu): each leaves what numpy leaves, and compiles for all architectures."""

from __future__ import annotations

from functools import partial
from itertools import cycle

import guest_ladder_truths
import guest_truths
import pytest
from beside_truth import check, first_sizes, launches, same_sizes
from launches import ARCHITECTURES, module

SMALL = first_sizes(launches.GUESTS)
FILES = sorted({case.file.name for case in SMALL.values()})
ELSEWHERE = [arch for arch in ARCHITECTURES if arch != "sm_90"]


def beside_numpy(name: str, arch: str) -> None:
    lesson = SMALL[name].lesson
    truth = partial(guest_ladder_truths.TRUTHS[lesson], name) if lesson else guest_truths.TRUTHS[name]
    check(SMALL[name], arch, truth)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SMALL))
def test_guest(name: str) -> None:
    beside_numpy(name, "sm_90")


@pytest.mark.long
@pytest.mark.parametrize(("name", "there"), list(zip(sorted(SMALL), cycle(ELSEWHERE), strict=False)))
def test_elsewhere(name: str, there: str) -> None:
    beside_numpy(name, there)


@pytest.mark.long
@pytest.mark.parametrize("there", ELSEWHERE)
@pytest.mark.parametrize("file", FILES)
def test_compiles_for_other_architectures(file: str, there: str) -> None:
    assert set(module(file, there)) == {name for name, case in SMALL.items() if case.file.name == file}


def test_each_guest_has_a_truth_and_rungs_have_the_same_sizes() -> None:
    assert same_sizes(launches.GUESTS) == (set(guest_truths.TRUTHS), set(guest_ladder_truths.TRUTHS))
