"""Bulk copies and mbarriers: cycles beside an H200's, and warps that wait for each other at mbarriers."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import warplens as wl

ROOT = Path(__file__).parents[3]
ROWS = ROOT / "measurements" / "h200" / "bulk_copies.csv"
SHARED = (200 << 10) + 2048
MEGAHERTZ = 1980
HANDED_OVER = """
#include "src/warplens/labs/tensor_gemm/ptx.cuh"
extern "C" __global__ void handed_over(float *x, int steps) {
  __shared__ u64 barrier;
  if (threadIdx.x == 0) mbarrier_init(&barrier, 1);
  __syncthreads();
  float f = x[0];
  if (threadIdx.x < 32) {
#pragma unroll 1
    for (int i = 0; i < steps; ++i) f = f * f + 1.0f;
    if (threadIdx.x == 0) mbarrier_arrive(&barrier);
  } else {
    mbarrier_wait(&barrier, 0);
#pragma unroll 1
    for (int i = 0; i < steps; ++i) f = f * f + 2.0f;
  }
  x[threadIdx.x] = f;
}
"""


@cache
def measured() -> dict[tuple[str, str, int, int, int], float]:
    """Cycles of a copy, by kind, source, blocks, bytes and copies in flight."""
    with ROWS.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if line[0] != "#")
        return {
            (row["what"], row["where"], int(row["blocks"]), int(row["bytes"]), int(row["in_flight"])):
            int(row["median_cycles"]) / int(row["number"]) for row in rows if row["what"] in ("box", "row")
        }  # fmt: skip


@pytest.fixture(scope="module")
def copies() -> wl.LaunchableKernel:
    return wl.compile(str(ROOT / "benchmarks" / "measurements" / "bulk_copies.cu"), arch="sm_90a")["copies"]


def cycles(
    copies: wl.LaunchableKernel, what: str, places: int, blocks: int, size: int, in_flight: int, number: int
) -> float:  # fmt: skip
    memory = np.zeros((places * size // 128, 64), np.uint16)
    mapped = wl.tensor_map(memory, (size // 128, 64), swizzle=128)
    given = int(what == "box"), size, max(in_flight, 1), number, blocks, places, int(in_flight == 0), 1
    run = copies.launch(blocks, 32, mapped, memory, *given, np.zeros(1024, np.int64), shared=SHARED)
    return run.predict("h200").duration_us * MEGAHERTZ


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("what", "where", "size", "in_flight"),
    [
        ("box", "l2", 4096, 0), ("box", "l2", 16384, 0), ("box", "l2", 32768, 0), ("box", "dram", 1024, 0),
        ("box", "dram", 32768, 4), ("box", "l2", 16384, 4), ("box", "l2", 32768, 4), ("row", "l2", 16384, 4),
    ],
)  # fmt: skip
def test_copies_of_one_block(copies: wl.LaunchableKernel, what: str, where: str, size: int, in_flight: int) -> None:
    """By the cycles of 32 more copies; those of L2 come again and again from the same eight places."""
    places = 8 if where == "l2" else 128
    few, many = (cycles(copies, what, places, 1, size, in_flight, number) for number in (32, 64))
    assert (many - few) / 32 == pytest.approx(measured()[what, where, 1, size, in_flight], rel=0.08)


def test_a_warp_waits_at_an_mbarrier_until_another_arrives() -> None:
    kernel = wl.compile(source=HANDED_OVER, arch="sm_90a", options=[f"-I{ROOT}"])["handed_over"]
    few, many = (
        kernel.launch(1, 64, np.zeros(64, np.float32), np.int32(steps)).predict("h200") for steps in (1000, 3000)
    )
    one_after_the_other = 2 * 2000 * 4 / MEGAHERTZ  # a step takes 4 cycles at least
    assert many.duration_us - few.duration_us > one_after_the_other
    assert many.stalls["long_scoreboard"] > 0.2 * sum(many.stalls.values())
