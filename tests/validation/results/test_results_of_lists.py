"""Guests, visitors and those after them (tests/kernels/guest_*.cu ...), which times are validated on: each leaves what
numpy leaves, and compiles for all architectures."""

from __future__ import annotations

from functools import partial
from itertools import cycle, product

import pytest
import reference_guest_ladders
import reference_guests
import reference_newcomer_ladders
import reference_newcomers
import reference_settler_ladders
import reference_settlers
import reference_traveller_ladders
import reference_travellers
import reference_visitor_ladders
import reference_visitors
import reference_wanderer_ladders
import reference_wanderers

from helpers.kernel_launches import ARCHITECTURES, module
from helpers.references import check, first_sizes, launches, same_sizes

LISTS = (
    (launches.GUESTS, reference_guests, reference_guest_ladders),
    (launches.VISITORS, reference_visitors, reference_visitor_ladders),
    (launches.TRAVELLERS, reference_travellers, reference_traveller_ladders),
    (launches.NEWCOMERS, reference_newcomers, reference_newcomer_ladders),
    (launches.WANDERERS, reference_wanderers, reference_wanderer_ladders),
    (launches.SETTLERS, reference_settlers, reference_settler_ladders),
)
NAMES = ("guests", "visitors", "travellers", "newcomers", "wanderers", "settlers")
SMALL = {name: case for file, _, _ in LISTS for name, case in first_sizes(file).items()}
TRUTHS = {name: truth for _, truths, _ in LISTS for name, truth in truths.TRUTHS.items()}
RUNGS = {lesson: truth for _, _, truths in LISTS for lesson, truth in truths.TRUTHS.items()}
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
@pytest.mark.parametrize(("name", "there"), TRIED)
def test_elsewhere(name: str, there: str) -> None:
    beside_numpy(name, there)


@pytest.mark.long
@pytest.mark.parametrize("there", ELSEWHERE)
@pytest.mark.parametrize("file", FILES)
def test_compiles_for_other_architectures(file: str, there: str) -> None:
    assert set(module(file, there)) == {name for name, case in SMALL.items() if case.file.name == file}


@pytest.mark.parametrize(("file", "truths", "rungs"), LISTS, ids=NAMES)
def test_each_has_a_truth_and_rungs_have_the_same_sizes(file, truths, rungs) -> None:  # type: ignore[no-untyped-def]
    assert same_sizes(file) == (set(truths.TRUTHS), set(rungs.TRUTHS))


def test_no_kernel_and_no_ladder_stands_in_two_lists() -> None:
    assert len(SMALL) == sum(len(first_sizes(file)) for file, _, _ in LISTS)
    assert len(RUNGS) == sum(len(rungs.TRUTHS) for _, _, rungs in LISTS)
