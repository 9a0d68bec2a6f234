"""The longest warp of a launch: its block, whichever thread ran it."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from warplens.core.counts import LONG_WARP

SOURCE = """
extern "C" __global__ void loops(float* out, const int* turns) {
    float x = threadIdx.x;
    for (int i = 0; i < turns[blockIdx.x]; i++) x = x * 0.5f + 1.0f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""
BLOCKS = 300


@pytest.fixture(scope="module")
def loops() -> wl.Kernel:
    return wl.compile(source=SOURCE)["loops"]


def launched(loops: wl.Kernel, turns: np.ndarray) -> wl.Run:
    return loops.launch(BLOCKS, 64, np.zeros(BLOCKS * 64, np.float32), turns)


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("block", [0, 171, BLOCKS - 1])
def test_its_block_is_found(loops: wl.Kernel, block: int, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLENS_THREADS", threads)
    turns = np.full(BLOCKS, 5, np.int32)
    turns[block] = 100_000
    longest = launched(loops, turns).trace.longest
    assert longest is not None
    assert longest.block == block
    assert 100_000 < longest.instructions < 1_000_000


def test_of_equal_warps_the_first_block_counts(loops: wl.Kernel) -> None:
    turns = np.full(BLOCKS, 5, np.int32)
    turns[40:60] = 20_000
    longest = launched(loops, turns).trace.longest
    assert longest is not None
    assert longest.block == 40


def test_short_warps_are_not_kept(loops: wl.Kernel) -> None:
    assert launched(loops, np.full(BLOCKS, LONG_WARP // 100, np.int32)).trace.longest is None
