"""The validation lists that have reference results in numpy: each kernel's first launch leaves the same, and every
kernel compiles for all architectures."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from itertools import cycle, product
from types import ModuleType

import pytest

from helpers.execution_tiers import pytest_generate_tests, tier
from helpers.kernel_launches import ARCHITECTURES, module
from helpers.references import check
from validation.lists import LISTS, List

__all__ = ["pytest_generate_tests", "tier"]


def references(one: List) -> tuple[ModuleType, ModuleType]:
    """Of the kernels by themselves, and of the ladders."""
    alone, ladders = (import_module(f"validation.{one.name}.{kind}") for kind in ("reference", "reference_ladders"))
    return alone, ladders


COMPARED = [one for one in LISTS.values() if (one.folder / "reference.py").is_file()]
SMALL = {name: case for one in COMPARED for name, case in one.first_cases().items()}
TRUTHS = {name: truth for one in COMPARED for name, truth in references(one)[0].TRUTHS.items()}
RUNGS = {lesson: truth for one in COMPARED for lesson, truth in references(one)[1].TRUTHS.items()}
FILES = sorted({case.file.name for case in SMALL.values()})
ELSEWHERE = [arch for arch in ARCHITECTURES if arch != "sm_90"]
EVERYWHERE = (
    "boxes_aligned", "bytes_warp", "degrees_ranges", "dense_element", "edges_eights", "embedding_backward",
    "gumbel_sample", "lattice_19", "maxwell_h", "order_barriers", "order_eights", "order_lanes",
    "points_inside", "read_dates", "sales_by_kind", "spread_labels", "star_plain", "star_tile", "to_e4m3",
    "triangle_pairs", "viterbi_frames", "wavelet_rows",
)  # fmt: skip
"""They have opcodes that no other kernel has on some architecture."""
TRIED = sorted({*zip(sorted(SMALL), cycle(ELSEWHERE), strict=False), *product(EVERYWHERE, ELSEWHERE)})


def beside_numpy(name: str, arch: str) -> None:
    lesson = SMALL[name].lesson
    check(SMALL[name], arch, partial(RUNGS[lesson], name) if lesson else TRUTHS[name])


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SMALL))
def test_results(name: str) -> None:
    beside_numpy(name, "sm_90")


@pytest.mark.long
@pytest.mark.parametrize("there", ELSEWHERE)
@pytest.mark.parametrize("file", FILES)
def test_elsewhere(file: str, there: str) -> None:
    """Every kernel of a file compiles; those of TRIED leave what numpy leaves."""
    names = {name for name, case in SMALL.items() if case.file.name == file}
    assert set(module(file, there)) == names
    for name, arch in TRIED:
        if name in names and arch == there:
            beside_numpy(name, there)


@pytest.mark.parametrize("one", COMPARED, ids=lambda one: one.name)
def test_each_has_a_truth_and_rungs_have_the_same_sizes(one: List) -> None:
    """A ladder has three rungs or more."""
    alone, ladders = references(one)
    sizes: dict[str, dict[str, list[tuple[str, ...]]]] = {}
    for case in one.cases():
        sizes.setdefault(case.lesson, {}).setdefault(str(case.flags.kernel), []).append(case.flags.settings)
    assert set(sizes.pop("")) == set(alone.TRUTHS)
    assert set(sizes) == set(ladders.TRUTHS)
    for rungs in sizes.values():
        first, *others = rungs.values()
        assert len(others) >= 2
        assert all(other == first for other in others)


def test_no_kernel_and_no_ladder_stands_in_two_lists() -> None:
    assert len(SMALL) == sum(len(one.first_cases()) for one in COMPARED)
    assert len(RUNGS) == sum(len(references(one)[1].TRUTHS) for one in COMPARED)
