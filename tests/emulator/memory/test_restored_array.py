"""Restored arrays: a launch writes them, and they hold afterwards what they held before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.launchspec.array_view import RestoredArray

SOURCE = """
extern "C" __global__ void add(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
extern "C" __global__ void wrong(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
  if (i == 300) y[n] = 0;
}
"""


@pytest.fixture(scope="module")
def module() -> wl.Module:
    return wl.compile(source=SOURCE)


def arrays(count: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    x = np.arange(count, dtype=np.float32)
    return x, 2 * x + 1


@pytest.mark.parametrize("count", [1000, 1 << 19])  # copied to device memory, and used in place
def test_the_old_content_is_there_again_after_a_launch_and_its_prediction(module: wl.Module, count: int) -> None:
    x, y = arrays(count)
    before, n = y.copy(), np.int32(count)
    run = module["add"].launch(-(-count // 256), 256, x, RestoredArray(y), n, gpu="h200")
    assert np.array_equal(y, before)
    plain = module["add"].launch(-(-count // 256), 256, x, y.copy(), n, gpu="h200")
    assert run.predict().time_us == plain.predict().time_us
    assert np.array_equal(y, before)
    assert np.array_equal(run.trace.executed, plain.trace.executed)


def test_also_after_a_fault(module: wl.Module) -> None:
    x, y = arrays(1 << 19)
    before = y.copy()
    with pytest.raises(wl.KernelFault):
        module["wrong"].launch(2048, 256, x, RestoredArray(y), np.int32(y.size))
    assert np.array_equal(y, before)
