"""Warpgroups: products that begin when the last of four warps has come, and that queue for the tensor pipe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warplens as wl

ROOT = Path(__file__).parents[3]


@pytest.fixture
def threaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threaded code: compiling a warpgroup's product takes longer than these launches."""
    monkeypatch.setenv("WARPLENS_TIER", "steps")


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


@pytest.mark.usefixtures("threaded")
def test_three_warps_wait_for_the_fourth_before_a_product() -> None:
    kernel = wl.compile(source=LATE, arch="sm_90a", options=[f"-I{ROOT}"])["late"]
    few, many = (
        kernel.launch(1, 128, np.zeros(128, np.float32), np.int32(steps)).predict("h200") for steps in (500, 1500)
    )

    def waited(found: wl.Prediction) -> float:
        return found.stalls["gmma"] * found.simulated.instructions

    cycles = (many.duration_us - few.duration_us) * 1700  # MHz: the clock under wgmma
    assert waited(many) - waited(few) == pytest.approx(3 * cycles, rel=0.05)


QUEUE = """
#include "src/warplens/labs/tensor_gemm/ptx.cuh"
extern "C" __global__ void queue(float *x, int steps) {
  __shared__ __align__(1024) bf16 a[64 * 64], b[128 * 64];
  float d[64], f = x[0], sum = 0;
  for (int i = 0; i < 64; ++i) d[i] = 0;
  wgmma_fence();
  for (int k = 0; k < COUNT; ++k) wgmma(d, descriptor(a), descriptor(b), 1);
  wgmma_commit();
#pragma unroll 1
  for (int i = 0; i < steps; ++i) f = f * f + 1.0f;
  wgmma_wait<0>();
  for (int i = 0; i < 64; ++i) sum += d[i];
  x[threadIdx.x] = sum + f;
}
"""
PRODUCT = 64.0  # cycles of the tensor pipe


@pytest.mark.usefixtures("threaded")
def test_a_warp_goes_on_once_its_products_are_in_the_queue() -> None:
    """Arithmetic that takes as long as the last seven products costs nothing."""
    kernel = wl.compile(source=QUEUE, arch="sm_90a", options=[f"-I{ROOT}", "-DCOUNT=16"])["queue"]
    few, some, many, most = (cycles(kernel, steps) for steps in (1, 12, 40, 62))
    alone = (most - many) / 2  # of 11 steps
    assert some - few < 0.3 * alone
    assert alone > 4 * PRODUCT


def cycles(kernel: wl.LaunchableKernel, steps: int) -> float:
    return kernel.launch(1, 128, np.zeros(128, np.float32), np.int32(steps)).predict("h200").duration_us * 1980


TURNS = """
extern "C" __global__ void turns(float *x, int steps) {
  int group = __shfl_sync(~0u, threadIdx.x / 32, 0) / 4, first = x[0] != 0;
  float f = x[0];
  if (group == first) {
#pragma unroll 1
    for (int i = 0; i < steps; ++i) f = f * f + 1.0f;
    asm volatile("bar.arrive %0, %1;" ::"r"(1 + group), "n"(256) : "memory");
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(2 - group), "n"(256) : "memory");
#pragma unroll 1
    for (int i = 0; i < steps; ++i) f = f * f + 1.0f;
  }
  x[256 + threadIdx.x] = f;
}
"""


def test_a_barrier_whose_number_is_in_a_register_lets_one_warpgroup_go_after_the_other() -> None:
    kernel = wl.compile(source=TURNS, arch="sm_90")["turns"]

    def found(steps: int) -> wl.Prediction:
        return kernel.launch(1, 256, np.zeros(512, np.float32), np.int32(steps)).predict("h200")

    few, many = found(500), found(1500)
    turn = (many.duration_us - few.duration_us) * 1980 / 2  # cycles of 1,000 steps by one warpgroup
    waited = [one.stalls["barrier"] * one.simulated.instructions for one in (few, many)]
    assert waited[1] - waited[0] == pytest.approx(4 * turn, rel=0.05)  # four warps wait for the first turn
