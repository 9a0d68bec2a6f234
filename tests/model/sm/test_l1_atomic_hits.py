"""Sectors of atomics count among those that L1 is asked for, and are never there."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl

BESIDE = """extern "C" __global__ void beside(const float* x, float* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float first = __ldca(x + i);
  __syncthreads();
  float both = first + __ldca(x + (i ^ 32));
  for (int k = 0; k < n; ++k) atomicAdd(sums + (i ^ 64 * k), both);
}"""


@pytest.mark.every(3)
@pytest.mark.parametrize("n", [0, 1, 2, 6])
def test_an_atomic_is_a_miss(n: int) -> None:
    """As `embedding_backward` of the visitors: of one load and two atomics that reach as many sectors 43.8 % of the
    loads hit, and an H200 counts 14.6 % (2026-11-22)."""
    x, sums = np.ones(1 << 15, np.float32), np.zeros(1 << 15, np.float32)
    run = wl.compile(source=BESIDE)["beside"].launch(128, 256, x, sums, n)
    loads, hits = 2, 1
    rate = run.predict("h200").metrics["l1tex__t_sector_hit_rate.pct"].value
    assert rate == pytest.approx(100 * hits / (loads + n))
