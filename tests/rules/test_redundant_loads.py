"""Redundant loads: the axis of threadIdx that is missing in an address."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.memory.redundant_loads import RedundantLoadsEvidence, redundant_loads


@pytest.mark.parametrize(
    ("example", "warps", "axes"),
    [("sgemm/1_naive", 8, "y"), ("sgemm/2_coalesced", 8, "y"), ("shared_product/5_columns", 32, "y")],
)
def test_rows_of_the_block_load_the_same(example: str, warps: int, axes: str) -> None:
    found = redundant_loads(counted(example))
    assert found is not None
    assert isinstance(found.evidence, RedundantLoadsEvidence)
    assert (found.evidence.warps, found.evidence.axes) == (warps, axes)
    assert found.line is not None


def test_staging_saves_what_is_left_after_the_wavefronts_of_the_tile() -> None:
    subject = counted("sgemm/2_coalesced")
    found = redundant_loads(subject)
    assert found is not None
    assert isinstance(found.evidence, RedundantLoadsEvidence)
    n = 256  # of 5 sectors a step of the sum, B's are 4: 4 - 1 to read the tile - (1 + 4) / 8 to load it once
    saved = n**3 / 32 * (4 - 1 - (1 + 4) / 8)
    assert found.evidence.share == pytest.approx(saved / subject["smsp__sass_sectors_mem_global.sum"])


@pytest.mark.parametrize(
    "example", ["shared_product/7_tiled", "sgemm/9_async", "coalescing/5_rows", "softmax/3_shuffles"]
)
def test_tiles_and_rows_of_a_thread_are_silent(example: str) -> None:
    assert redundant_loads(counted(example)) is None
