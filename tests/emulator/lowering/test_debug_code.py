"""Code for debuggers (`nvcc -G`): nothing is optimized, and each function compares its stack pointer with a limit."""

from __future__ import annotations

import numpy as np

import warplens as wl
from helpers.kernel_launches import same
from warplens.isa import find

SOURCE = """
__device__ int squares(const int* x, int n) {
  int own[4], sum = 0;
  for (int k = 0; k < 4; k++) own[k] = x[(n + k) % 32] * x[(n + k) % 32];
  for (int k = 0; k < 4; k++) sum += own[k];
  return sum;
}
extern "C" __global__ void debug(const int* x, int* o, int* total) {
  int i = threadIdx.x, v = squares(x, i);
  atomicAdd(total, v);
  __threadfence();
  o[i] = __shfl_xor_sync(~0u, v, 1);
}
"""


def test_it_gives_what_optimized_code_gives() -> None:
    x, o, total = np.arange(32, dtype=np.int32), np.zeros(32, np.int32), np.zeros(1, np.int32)
    wl.compile(source=SOURCE, arch="sm_90", options=["-G"])["debug"].launch(1, 32, x, o, total)
    sums = (x[(x[:, None] + np.arange(4)) % 32] ** 2).sum(1, dtype=np.int32)
    same(o, sums[x ^ 1])
    assert total[0] == sums.sum()


def test_its_fences_are_known() -> None:
    assert find("MEMBAR.SC.VC") is not None
