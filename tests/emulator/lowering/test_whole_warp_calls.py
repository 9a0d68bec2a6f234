"""Kernels whose lanes call a function only for rare operands, as divisions and roots do: whole warps stay whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import written
from warplens.emulator.lowering.kernel_module import KernelModule
from warplens.run import Run

N = 512
SOURCE = """
extern "C" __global__ void ratios(const double *x, const double *y, double *z, int n, int times) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int k = 0; k < times; ++k) sum = sum / y[(i + k) % n] + x[i] / y[i];
  z[i] = sum + sqrt(x[i]);
}
extern "C" __global__ void steps(const float *x, float *z, int n) {  // lanes that call are together again after it
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float q = i < n ? x[i] / 3e-39f : 1.0f;
  z[i] = q + __shfl_xor_sync(0xffffffff, q, 1);
}
extern "C" __device__ __noinline__ int collatz(int n) {
  int k = 0;
  for (; n > 1; ++k) n = n & 1 ? 3 * n + 1 : n / 2;
  return k;
}
extern "C" __global__ void always(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = collatz(x[i]) + (x[i] % 5 ? collatz(x[i] + 1) : 0);
}
"""


def compiled(name: str) -> KernelModule:
    kernel = written(SOURCE, name)
    return KernelModule(kernel.kernel, kernel.program, 32)


def places(made: KernelModule, *, whole: bool) -> set[int]:
    return {place.first for place in made.shapes.states if place.whole == whole}


def test_blocks_between_calls_have_copies_for_whole_warps() -> None:
    made = compiled("ratios")
    called = {i.operands[0].offset // 16 for i in made.program.instructions if i.base == "CALL"}
    whole = places(made, whole=True)
    assert called
    assert not called & whole
    assert places(made, whole=False) == made.reached
    ends = {made.by_start[first].last for first in whole}
    assert any(made.program.instructions[last].base == "EXIT" for last in ends if last > max(
        i.index for i in made.program.instructions if i.base == "CALL"
    ))  # fmt: skip


def metrics(run: Run) -> Mapping[str, Any]:
    return {name: metric.value for name, metric in run.metrics.items()}


def values(rare: str) -> NDArray[np.float64]:
    x = np.random.default_rng(5).random(N) + 0.5
    if rare == "in some lanes":
        x[::7] = 1e-310
        x[5::64] = np.inf
    elif rare == "in whole warps":
        x[96:160] = 1e-310
    elif rare == "everywhere":
        x[:] = 1e-310 * np.arange(1, N + 1)
    return x


@pytest.mark.parametrize("rare", ["nowhere", "in some lanes", "in whole warps", "everywhere"])
def test_divisions(rare: str) -> None:
    x, z = values(rare), np.zeros(N)
    y = np.random.default_rng(6).random(N) + 1
    times, n = 3, N - 9
    written(SOURCE, "ratios").launch(4, 128, x, y, z, n, times)
    want = np.zeros(n)
    i = np.arange(n)
    for k in range(times):
        want = want / y[(i + k) % n] + x[:n] / y[:n]
    np.testing.assert_array_equal(z[:n], want + np.sqrt(x[:n]))


@pytest.mark.parametrize("rare", ["in some lanes", "everywhere"])
def test_lanes_meet_after_calls(rare: str) -> None:
    with np.errstate(over="ignore"):
        x = values(rare).astype(np.float32)
        z = np.zeros(N, np.float32)
        written(SOURCE, "steps").launch(4, 128, x, z, N - 40)
        q = np.where(np.arange(N) < N - 40, x / np.float32(3e-39), np.float32(1))
        want = q + q.reshape(-1, 2)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(z, want)


def test_counts_of_both_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for tier in ("steps", "whole"):
        monkeypatch.setenv("WARPLENS_TIER", tier)
        x = np.arange(N, dtype=np.int32)
        runs = [written(SOURCE, "always").launch(4, 128, x, N)]
        runs.append(written(SOURCE, "ratios").launch(4, 128, values("in some lanes"), np.ones(N), np.zeros(N), N, 3))
        found.append((x, [metrics(run) for run in runs]))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]
