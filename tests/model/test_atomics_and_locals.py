"""Atomics on few words, and stores to local memory, as an H200 does them (measurements/h200/calibration.csv)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from warplens.calibration.record import read
from warplens.model.atomic_units import fullest, units_at_work

RECORD = read(Path(__file__).parents[2] / "measurements" / "h200" / "calibration.csv")
SOURCE = r"""
extern "C" __global__ void crowd(unsigned* p, unsigned words, int apart, int rounds) {
  unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u;
  for (int r = 0; r < rounds; ++r) {
    at = at * 1664525u + 1013904223u;
    atomicAdd(p + (long)(((unsigned long long)(at ^ at >> 15) * words) >> 32) * apart, 1u + r);
  }
}
extern "C" __global__ void local(float* sink, int own, int rounds) {
  float a[32];
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 8; ++i) a[(r * 8 + i + own) & 31] = r + i;
  if (a[own & 31] == 12345.678f) sink[0] = a[(own + 3) & 31];
}
"""


@pytest.fixture(scope="module")
def module() -> wl.Module:
    return wl.compile(source=SOURCE, arch="sm_90")


@pytest.mark.parametrize(
    ("words", "apart", "blocks", "threads", "rounds", "name"),
    [
        (256, 1, 132, 32, 32, "crowd add, 256 words every 1, 132 x 32"),
        (1, 1, 1056, 256, 4, "crowd add, 1 words every 1"),
        (32, 32, 1056, 256, 4, "crowd add, 32 words every 32"),
    ],
)
def test_atomics_of_many_on_few_words(
    module: wl.Module, words: int, apart: int, blocks: int, threads: int, rounds: int, name: str
) -> None:
    p = np.zeros(words * apart, np.uint32)
    run = module["crowd"].launch((blocks,), (threads,), p, np.uint32(words), np.int32(apart), np.int32(rounds))
    assert run.predict("h200").time_us == pytest.approx(float(RECORD[name]["value"]), rel=0.25)


def test_stores_to_local_memory_go_on_to_l2(module: wl.Module) -> None:
    run = module["local"].launch((132,), (256,), np.zeros(1, np.float32), np.int32(0), np.int32(64))
    measured = float(RECORD["local stores, 32 words, 1 blocks of 256"]["value"])
    assert run.predict("h200").time_us == pytest.approx(measured, rel=0.25)


def test_units_share_the_work_as_boxes_do_balls() -> None:
    assert fullest(1, 96) == pytest.approx(1, abs=0.02)
    assert fullest(9600, 96) == pytest.approx(100 + 2.5 * 10, rel=0.05)  # 2.5 standard deviations: one of 96
    assert units_at_work(2, 0.5, 96) == pytest.approx(2, rel=0.02)
    assert units_at_work(1000, 0.5, 96) == 2  # half of all go to one
    assert units_at_work(0, 0, 96) == 1
