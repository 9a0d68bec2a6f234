"""Everyday kernels beside what Nsight Compute counted for them on an H200 (measurements/h200/everyday.csv)."""

from __future__ import annotations

import pytest

from beside_h200 import ROOT, check
from warplens.target import Flags, Target, targets

KERNELS = str(ROOT / "tests" / "kernels" / "everyday.cu")
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
def test_counts_as_on_an_h200(target: Target) -> None:
    check(target, "everyday.csv")


def test_the_differences_are_of_kernels_in_the_file() -> None:
    assert set(DIFFERENT) < {t.title for t in FOUND}
