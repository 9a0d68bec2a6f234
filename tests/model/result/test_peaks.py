"""No unit works faster than its peak: on every GPU that is described, whatever the kernel keeps busy."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from warplens.machine import machine, machines

SOURCE = """
__global__ void read(const float4* in, float* out) {
    float4 v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (v.x + v.y + v.z + v.w == 12345.0f) out[0] = v.x;
}

__global__ void copy_twice(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[2 * i % n];
}

__global__ void multiply(float* out, int n) {
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int i = 0; i < n; i++) { a = a * b + c; b = b * c + d; c = c * d + a; d = d * a + b; }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
"""
FLOATS = 1 << 23  # 32 MiB, more than small GPUs hold in L2 until they are read again
STREAMED = 3 << 24  # 192 MiB, twice the largest L2


@pytest.mark.every(9)
@pytest.mark.parametrize("gpu", machines())
def test_units_stay_below_their_peak(gpu: str) -> None:
    """A device with one sub-partition executed four instructions a cycle; DRAM wrote back what L2 held before the
    launch, and read again what L2 had lost, in no time."""
    module = wl.compile(source=SOURCE, arch=machine(gpu).arch)
    blocks = 8 * machine(gpu).multiprocessors
    for name, grid, args in (
        ("read", STREAMED // 1024, (np.zeros(STREAMED, np.float32), np.zeros(4, np.float32))),
        ("copy_twice", FLOATS // 256, (np.zeros(FLOATS, np.float32), np.zeros(FLOATS, np.float32), np.int32(FLOATS))),
        ("multiply", blocks, (np.zeros(256 * blocks, np.float32), np.int32(300))),
    ):
        run = module[name].launch((grid,), (256,), *args)
        found = run.predict(gpu)
        assert found.units[0].percent < 100.05, (name, found.units[0])
        assert found.time_us >= run.floor(gpu).microseconds, name
