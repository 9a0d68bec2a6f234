"""Kernels of many kinds on other architectures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from validation.lists import LISTS
from warplens.commands.validate import Emulated
from warplens.core.run_options import USUAL

ORDER_DEPENDENT = {"hash_insert"}  # which thread takes a slot
WITHOUT = {"sm_75": {"barrier_phases", "gemm_bf16", "pipeline_stages"}}
"""Kernels that begin with a later architecture."""
CONTRACTED = {"sm_120": {"attention_online": 1e-7}}
"""There the compiler makes one more product and sum into one instruction: how far results may lie apart."""


@pytest.mark.long
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_120"])
def test_results_elsewhere(arch: str) -> None:
    """The same bytes as on sm_90, some minutes for each architecture."""
    for name, case in sorted(LISTS["field"].first_cases().items()):
        if name in WITHOUT.get(arch, set()) or name in ORDER_DEPENDENT:
            continue
        here, there = (replace(case, flags=replace(case.flags, arch=a)).target() for a in (arch, "sm_90"))
        apart = CONTRACTED.get(arch, {}).get(name, 0)
        for got, want in zip(*(Emulated(t, USUAL, None).arrays for t in (here, there)), strict=True):
            assert got.tobytes() == want.tobytes() or (apart and np.abs(got - want).max() < apart), name
