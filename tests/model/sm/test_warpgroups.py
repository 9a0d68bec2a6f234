"""Warpgroups: products that begin when the last of four warps has come."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warplens as wl

ROOT = Path(__file__).parents[3]
LATE = """
#include "src/warplens/labs/tensor_gemm/ptx.cuh"
extern "C" __global__ void late(float *x, int steps) {
  __shared__ __align__(1024) bf16 a[64 * 64], b[128 * 64];
  float d[64], f = x[0], sum = 0;
  if (threadIdx.x >= 96)
#pragma unroll 1
    for (int i = 0; i < steps; ++i) f = f * f + 1.0f;
  for (int i = 0; i < 64; ++i) d[i] = 0;
  wgmma_fence();
  wgmma(d, descriptor(a), descriptor(b), 0);
  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < 64; ++i) sum += d[i];
  x[threadIdx.x] = sum + f;
}
"""


def test_three_warps_wait_for_the_fourth_before_a_product() -> None:
    kernel = wl.compile(source=LATE, arch="sm_90a", options=[f"-I{ROOT}"])["late"]
    few, many = (
        kernel.launch(1, 128, np.zeros(128, np.float32), np.int32(steps)).predict("h200") for steps in (500, 1500)
    )

    def waited(found: wl.Prediction) -> float:
        return found.stalls["gmma"] * found.simulated.instructions

    cycles = (many.duration_us - few.duration_us) * 1980
    assert waited(many) - waited(few) == pytest.approx(3 * cycles, rel=0.05)
