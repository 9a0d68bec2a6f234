"""Clocks, special registers, locks.  A clock counts instructions: it goes on, and nothing more is promised."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import kernel, same, written

FILE = "k22_clock_sreg.cu"


def test_clk(arch: str) -> None:
    a = np.roll(np.arange(101, dtype=np.int32), -1)
    o = np.zeros(8, np.int64)
    kernel(FILE, "clk", arch).launch(1, 1, o, a, shared=640)
    assert o[0] >= 200  # a hundred loads, each with its address
    assert o[2] >= o[0]
    assert o[3] > o[2] - o[0]
    assert (o[1], o[4], o[5]) == (100, 132, 640)
    assert o[6] >= 640


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (7, 96)])
def test_spin(arch: str, grid: int, block: int) -> None:
    lock, d = np.zeros(1, np.int32), np.array([5], np.int32)
    kernel(FILE, "spin", arch).launch(grid, block, lock, d)
    assert (lock[0], d[0]) == (0, 5 + grid * block // 32)


def test_ids(arch: str) -> None:
    grid, block = (3, 2, 4), (5, 3, 2)
    o = np.zeros(24 * 30 + 2, np.int32)
    kernel(FILE, "ids", arch).launch(grid, block, o)
    same(o, np.where(np.arange(o.size) < 720, 36, 0).astype(np.int32))


WAITS = """
__device__ __noinline__ long long now() { return clock64(); }
extern "C" __global__ void waits(long long *o, int turns) {
  long long start = now(), last = start;
  while (clock64() - start < 5000) ;
  for (int k = 0; k < turns; k++) { long long t = now(); if (t <= last) o[1]++; last = t; }
  long long timer, end;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end)); while (end < timer + 1000);
  o[0] = last - start;
}
"""


def test_a_kernel_that_waits_for_time_goes_on(arch: str) -> None:
    o = np.zeros(2, np.int64)
    written(WAITS, "waits", arch).launch(1, 32, o, 10)
    assert o[0] >= 5000
    assert o[1] == 0  # never backwards, not over calls either
