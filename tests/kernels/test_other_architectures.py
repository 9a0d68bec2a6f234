"""Kernels that ran beside an H200 leave the same bytes when they are compiled for another architecture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from helpers import access_patterns, matrix_access_patterns
from helpers.kernel_launches import ARCHITECTURES, module, source
from validation.lists import LISTS, Case
from warplens.commands.target import Flags, targets
from warplens.core.cubin import chip_number
from warplens.errors import CompileError

ODD = LISTS["odd"].first_cases()
ELSEWHERE = [arch for arch in ARCHITECTURES if arch != "sm_90"]
FIELD = [
    "atomic_places", "barrier_phases", "bins_4096", "bitonic_pairs", "cub_runs", "find_word", "frontier_bits", "im2col",
    "julia", "max_pool", "scan_single_pass", "tree_walk",
]  # fmt: skip
"""Those with opcodes that no other kernel has on sm_100."""
PRACTICE = ["norm_block", "scan_doubling", "tensor_plain", "tensor_tile"]
STRANGERS = {
    "stranger_codes.cu": ("md5_search", "sobol"),
    "stranger_grids.cu": ("pathfinder", "recursive_filter", "voxels"),
    "stranger_groups.cu": ("block_sort",),
    "stranger_searches.cu": ("game_of_sets", "sudoku_rows"),
}
"""Likewise, on any of the others."""
BEGINS_WITH = {
    "odd_control.cu": ("sm_80", "__reduce_max_sync"),
    "odd_memory.cu": ("sm_90", "atomicAdd"),  # of float2 and float4
    "odd_narrow.cu": ("sm_80", "__nv_bfloat162"),
    "stranger_codes.cu": ("sm_80", "__reduce_max_sync"),
    "stranger_searches.cu": ("sm_80", "__reduce_add_sync"),
}
"""The first architecture that has what the file calls."""
OTHERWISE = {"active_lanes", "brain_pairs"}
"""What the compiler makes otherwise before sm_90: which lanes are together, and products of bfloat16 before sums."""
NEAR = 2e-5  # of the largest: sums in another order
MATRICES = {name for name, *_ in matrix_access_patterns.launches()}


def compiles(file: str, arch: str) -> bool:
    return chip_number(arch) >= chip_number(BEGINS_WITH.get(file, ("sm_75",))[0])


@pytest.mark.every(5)
@pytest.mark.parametrize("file", BEGINS_WITH)
def test_files_that_begin_with_a_later_architecture(file: str) -> None:
    first, function = BEGINS_WITH[file]
    before = ARCHITECTURES[ARCHITECTURES.index(first) - 1]
    with pytest.raises(CompileError, match=function):
        module(file, before)
    assert len(module(file, first))


def left(file: str, name: str, arch: str, launch: Any, values: list[Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays after a launch."""
    given = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    module(file, arch)[name].launch(launch.grid, launch.block, *given, shared=launch.shared)
    return [value for value in given if isinstance(value, np.ndarray)]


def agree(found: list[np.ndarray[Any, Any]], wanted: list[np.ndarray[Any, Any]]) -> None:
    """Floats nearly, everything else in every bit."""
    for one, other in zip(found, wanted, strict=True):
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=NEAR * np.nanmax(np.abs(other), initial=0))
        else:
            np.testing.assert_array_equal(one, other)


@pytest.mark.long  # NVRTC takes up to 6 s for a file
@pytest.mark.parametrize(
    ("name", "there"),
    [
        (name, a)
        for name, case in sorted(ODD.items(), key=lambda item: (item[1].file.name, item[0]))
        for a in ELSEWHERE
        if compiles(case.file.name, a) and not (name in OTHERWISE and int(a[3:]) < 90)
    ],
)
def test_odd_forms(name: str, there: str) -> None:
    target = ODD[name].target()
    values = target.fresh_values()
    wanted, found = (left(ODD[name].file.name, name, a, target.launch, values) for a in ("sm_90", there))
    agree(found, wanted)


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "name", "there"),
    [(f, name, a) for f, names in STRANGERS.items() for name in names for a in ELSEWHERE if compiles(f, a)],
)
def test_strangers(file: str, name: str, there: str) -> None:
    (target,) = targets(str(source(file)), Flags(kernel=name))
    values = target.fresh_values()
    wanted, found = (left(file, name, a, target.launch, values) for a in ("sm_90", there))
    agree(found, wanted)


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "there"),
    [
        *(pytest.param(LISTS["field"].first_cases()[name], "sm_100", id=name) for name in FIELD),
        *(
            pytest.param(LISTS["practice"].first_cases()[name], there, id=f"{name}-{there}")
            for name in PRACTICE
            for there in ELSEWHERE
        ),
    ],
)
def test_launches_of_the_lists(case: Case, there: str) -> None:
    target = case.target()
    values = target.fresh_values()
    wanted, found = (left(case.file.name, target.kernel.name, a, target.launch, values) for a in ("sm_90", there))
    agree(found, wanted)


@pytest.mark.long
@pytest.mark.parametrize("there", ELSEWHERE)
def test_matrix_loads_and_copies(there: str) -> None:
    names = MATRICES & set(module("matrix_patterns.cu", there))
    same_as_there("matrix_patterns.cu", matrix_access_patterns.launches(), there, names)


@pytest.mark.long
@pytest.mark.parametrize("there", ELSEWHERE)
def test_narrow_and_wide_accesses(there: str) -> None:
    same_as_there("patterns.cu", access_patterns.launches(), there, {"lds_2", "local_8", "local_16"})


def same_as_there(file: str, launches: Iterator[Any], there: str, names: set[str]) -> None:
    """The first three patterns of each kernel."""
    tried = Counter[str]()
    for name, _, (grid, block), values, shared in launches:
        if name in names and tried[name] < 3:
            tried[name] += 1
            launch = SimpleNamespace(grid=grid, block=block, shared=shared)
            agree(*(left(file, name, arch, launch, list(values)) for arch in (there, "sm_90")))
    assert set(tried) == names


@pytest.mark.long
@pytest.mark.parametrize("there", ["sm_80", "sm_120"])
@pytest.mark.parametrize("name", ["copy_4", "copy_8", "copy_16", "bypass_16"])
def test_copies_into_shared_memory(name: str, there: str) -> None:
    words = np.random.default_rng(5).integers(-99, 99, 4 * 2 * 128 * 2 * 3 * 4).astype(np.float32)
    launch = SimpleNamespace(grid=4, block=128, shared=32 << 10)
    values = [words, np.zeros(512, np.float32), *map(np.int32, (2, 3, 0, 0, 1, 1))]
    found, wanted = (left("copies.cu", name, arch, launch, values) for arch in (there, "sm_90"))
    assert found[1].any()
    agree(found, wanted)
