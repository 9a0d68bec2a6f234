"""Fourteen kernels, every count as Nsight Compute read it on an H200 (tests/data/h200_counts.json)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import warplens as wl

DATA = Path(__file__).parents[1] / "data"
H200 = json.loads((DATA / "h200_counts.json").read_text())["kernels"]
NOT_EXACT = {  # depend on what the cache holds and on which unit is busy
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
}
MODELLED = {  # equal here, but the hardware's own counter can add conflicts with other traffic
    f"l1tex__data_{what}_op_{way}.sum"
    for what in ("bank_conflicts_pipe_lsu_mem_shared", "pipe_lsu_wavefronts_mem_shared")
    for way in ("ld", "st")
}
N = 1 << 18


@cache
def module() -> wl.Module:
    return wl.load(DATA / "kernels.sm_90.cubin")


def floats(count: int) -> NDArray[Any]:
    return (np.random.default_rng(count).random(count) - 0.5).astype(np.float32)


def launched(name: str) -> Any:
    """As the header of kernels.cu says."""
    ints = np.random.default_rng(3).integers(0, 1000, N, dtype=np.int32)
    run = module()[name].launch
    if name in ("ccopy", "nccopy"):
        return run(N // 128, 128, floats(N), np.zeros(N, np.float32), N, gpu="h200")
    if name.startswith("add"):
        return run(256, 256, floats(N), floats(N), np.zeros(N, np.float32), N, gpu="h200")
    if name.startswith("matmul"):
        a, b, c = floats(128 * 128), floats(128 * 128), np.zeros(128 * 128, np.float32)
        return run((4 if "coarse" in name else 8, 8), (16, 16), a, b, c, 128, gpu="h200")
    width = 2048 if name == "reduce_unroll8_warp" else 256
    return run(N // width, 256, ints, np.zeros(N // width, np.int32), N, gpu="h200")


def test_every_kernel_is_here() -> None:
    assert set(H200) == set(module())


@pytest.mark.every(3)
@pytest.mark.parametrize("name", sorted(H200))
def test_counts(name: str) -> None:
    run, wrong, compared = launched(name), {}, set()
    for metric, measured in H200[name].items():
        if metric in NOT_EXACT:
            continue
        compared.add(metric)
        found = run.metrics.get(metric)
        provenance = "modelled" if metric in MODELLED else "exact"
        if found is None or found.provenance != provenance or round(float(found.value), 2) != measured:
            wrong[metric] = (found, measured)
    assert not wrong
    assert len(compared) == len(H200[name]) - len(NOT_EXACT) == 44
    counts = [m for m in compared if m.endswith(".sum") or m.startswith("memory_")]
    assert all(run[m] == H200[name][m] for m in counts)  # to the last one, not to two decimals
