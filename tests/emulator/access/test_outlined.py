"""What large code calls is the same as what small code has written out: results, counts and faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.emulator.jit import compile_module
from warplens.emulator.lowering import kernel_module

TIERS = ("whole",)
SOURCE = """
struct __align__(16) Four { float x, y, z, w; };
extern "C" __global__ void all(const float* in, float* out, const Four* wide, const int* where, int n) {
    __shared__ float row[256];
    __shared__ Four square[64];
    float own[8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    row[t] = in[i];
    square[t] = wide[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        Four f = square[(t * 3 + k) & 63];
        own[(t + k) & 7] = sqrtf(fabsf(f.x)) + f.y / (f.z + 2) + row[(t ^ k) & 63];
        sum += __expf(f.w) + (float)(int)(f.x * 100) + in[where[i] + k];
        if (i + k < n) sum += own[where[t] & 7 & (t + k)] * 0.5f;
    }
    out[i] = sum;
    if (t & 4) out[where[i]] = sum;
}
"""


def launch(bad: int = 0) -> tuple[np.ndarray[Any, Any], wl.Run]:
    kernel = wl.compile(source=SOURCE, arch="sm_90")["all"]
    random = np.random.default_rng(3)
    numbers, out = random.random(256, np.float32), np.zeros(256, np.float32)
    where = random.permutation(252).astype(np.int32)[np.arange(256) % 252]
    where[200] += bad
    wide = random.random(1024, np.float32)
    return out, kernel.launch((4,), (64,), numbers, out, wide, where, np.int32(200), threads=1)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """All code counts as large, and none is taken from a cache."""
    monkeypatch.setenv("WARPLENS_CACHE", str(tmp_path))
    monkeypatch.setattr(compile_module, "_loaded", {})
    monkeypatch.setattr(kernel_module, "LARGE", 0)


@pytest.mark.long
def test_calls_do_what_is_written_out(request: pytest.FixtureRequest) -> None:
    out, run = launch()
    with pytest.raises(wl.KernelFault) as fault:
        launch(bad=1 << 20)
    request.getfixturevalue("large")
    same, called = launch()
    assert same.tobytes() == out.tobytes()
    assert called.metrics == run.metrics
    with pytest.raises(wl.KernelFault) as other:
        launch(bad=1 << 20)
    assert str(other.value) == str(fault.value)
