"""Visitors (tests/kernels/visitor_*.cu): each leaves what numpy leaves, and compiles for all architectures."""

from __future__ import annotations

from functools import partial
from itertools import cycle

import pytest
import visitor_ladder_truths
import visitor_truths
from beside_truth import check, first_sizes, launches, same_sizes
from launches import ARCHITECTURES, module

SMALL = first_sizes(launches.VISITORS)
FILES = sorted({case.file.name for case in SMALL.values()})
ELSEWHERE = [arch for arch in ARCHITECTURES if arch != "sm_90"]


def beside_numpy(name: str, arch: str) -> None:
    lesson = SMALL[name].lesson
    truth = partial(visitor_ladder_truths.TRUTHS[lesson], name) if lesson else visitor_truths.TRUTHS[name]
    check(SMALL[name], arch, truth)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SMALL))
def test_visitor(name: str) -> None:
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


def test_each_visitor_has_a_truth_and_rungs_have_the_same_sizes() -> None:
    assert same_sizes(launches.VISITORS) == (set(visitor_truths.TRUTHS), set(visitor_ladder_truths.TRUTHS))
