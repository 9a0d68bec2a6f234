"""Kernels of many kinds beside what Nsight Compute counted for them on an H200 (measurements/h200/field.csv)."""

from __future__ import annotations

from pathlib import Path

import pytest

from validation_lists import the_lists
from warplens.host import USUAL
from warplens.target import Target
from warplens.validation import Emulated, with_record

ROOT = Path(__file__).parents[2]
launches = the_lists()
RECORD = str(ROOT / "measurements" / "h200" / "field.csv")
SMALL = {case.flags.kernel: case for case in reversed(list(launches.cases(launches.FIELD)))}
"""Of each kernel the first size."""
DIFFERENT = {
    "hash_warp": "lanes meet again at other times than on the GPU after a loop with YIELD; the results are equal",
    "pipeline_stages": "Nsight Compute takes the guard P0 of a copy past L1 for false (test_guarded_copies.py)",
    "hash_insert": "which thread takes a slot depends on the order of the blocks",
    "scan_single_pass": "blocks wait for each other by reading memory until it changes: how often is a matter of time",
}


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(SMALL) - set(DIFFERENT)))
def test_counts_as_on_an_h200(name: str) -> None:
    target: Target = SMALL[name].target()
    (agreement,) = with_record([Emulated(target, USUAL, None)], RECORD)
    assert len(agreement.rows) > 40
    assert agreement.equal, [(r.name, r.emulated.value, r.measured.value) for r in agreement.rows if not r.equal]


def test_the_differences_are_of_kernels_in_the_list() -> None:
    assert set(DIFFERENT) < set(SMALL)
