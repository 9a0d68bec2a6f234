"""The schedulers of the simulated SM: where warp cycles go, and code that is fetched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import warplens as wl
from warplens.machine import machine

SOURCE = """
extern "C" __global__ void mixed(const float* x, float* y, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float v = x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int k = 0; k < n; ++k) v = v * 1.5f + s[(threadIdx.x + k) & 127];
  y[i] = v;
}
extern "C" __global__ void sides(float* y, int n) {
  float v = threadIdx.x;
  if (threadIdx.x & 1) { for (int k = 0; k < n; ++k) v = v * 1.5f + 1; }
  else { for (int k = 0; k < n; ++k) v = __sinf(v) + 2; }
  y[blockIdx.x * 128 + threadIdx.x] = v;
}
"""
FENCES = """extern "C" __global__ void fences(int* a, int rounds, int stores) {
  for (int r = 0; r < rounds; ++r) {
    for (int k = 0; k < stores; ++k) a[k * 32 + threadIdx.x] = r;
    __threadfence();
  }
}"""


def launched(name: str, *arguments: object) -> wl.Run:
    return wl.compile(source=SOURCE, arch="sm_90")[name].launch(1056, 128, *arguments)


def test_warp_cycles_of_all_reasons_are_those_of_the_resident_warps() -> None:
    """No reason has negative cycles, and they add up to the warps that are active per issued instruction."""
    x = np.ones(1056 * 128, np.float32)
    prediction = launched("mixed", x, np.zeros_like(x), np.int32(64)).predict("h200")
    assert min(prediction.stalls.values()) >= 0
    assert all(value >= 0 for reasons in prediction.stalls_at.values() for value in reasons.values())
    total = prediction.metrics["smsp__average_warps_active_per_inst_executed.ratio"].value
    assert sum(prediction.stalls.values()) == pytest.approx(total, rel=0.02)
    assert prediction.stalls["not_selected"] > 0.1


def test_code_that_is_fetched_late_takes_longer() -> None:
    x = np.ones(1056 * 128, np.float32)
    run = launched("mixed", x, np.zeros_like(x), np.int32(4))
    h200 = machine("h200")
    late = replace(h200.microarchitecture, code_ready_lines=0.0, code_near_cycles=1000.0)
    fast, slower = (replace(run, machine=replace(h200, microarchitecture=m)).predict().time_us
                    for m in (h200.microarchitecture, late))  # fmt: skip
    assert slower > fast + 0.5  # 1,000 cycles are half a microsecond, of which the launch hides some


def test_without_divergence_a_warp_goes_through_either_side_as_often_as_half_of_its_lanes() -> None:
    run = launched("sides", np.zeros(1056 * 128, np.float32), np.int32(200))
    both, one = (run.predict("h200", what_if).time_us for what_if in ((), ("no_divergence",)))
    assert 0.35 * both < one < 0.8 * both


def test_a_fence_waits_until_l2_has_the_stores_before_it() -> None:
    """`fence_after_stores` of measurements/h200/contended.csv: 264 cycles without stores, 577 to 608 after 1 to 32."""
    kernel = wl.compile(source=FENCES, arch="sm_90")["fences"]

    def cycles(rounds: int, stores: int) -> float:
        run = kernel.launch(1, 32, np.zeros(32 * 33, np.int32), np.int32(rounds), np.int32(stores))
        return 1980 * run.predict("h200").duration_us

    without, after = ((cycles(80, stores) - cycles(16, stores)) / 64 for stores in (0, 1))
    assert without == pytest.approx(264, rel=0.15)
    assert after - without == pytest.approx(588 - 264, rel=0.2)
