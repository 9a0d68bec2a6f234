"""Everyday kernels beside what Nsight Compute counted for them on an H200 (measurements/h200/everyday.csv)."""

from __future__ import annotations

import pytest

from helpers.hardware_counters import ROOT, check
from warplens.commands.target import Flags, Target, targets

KERNELS = str(ROOT / "tests" / "kernels" / "everyday.cu")
FOUND = targets(KERNELS, Flags())


@pytest.mark.long
@pytest.mark.parametrize("target", FOUND, ids=lambda t: t.title)
def test_counts_as_on_an_h200(target: Target) -> None:
    check(target, "everyday.csv")
