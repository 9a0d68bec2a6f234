"""Which loops wait for what other blocks write."""

from __future__ import annotations

import pytest

import warplens as wl
from warplens.sass.block_queue import waiting_loads

SOURCE = """
extern "C" __global__ void flag(volatile int* f, float* y) { while (f[0] == 0); y[threadIdx.x] = 1; }
extern "C" __global__ void upper(volatile unsigned long long* f, float* y, int n) {
  unsigned long long v;
  do { v = f[blockIdx.x]; } while ((v >> 32) != n);
  y[threadIdx.x] = v;
}
extern "C" __global__ void together(int* f, float* y) {
  while (__any_sync(~0u, ((volatile int*)f)[threadIdx.x] == 0));
  y[threadIdx.x] = 1;
}
extern "C" __global__ void sum(const volatile float* x, float* y, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i];
  y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void chase(const volatile int* x, int* y, int n) {
  int at = threadIdx.x;
  for (int i = 0; i < n; i++) at = x[at];
  y[threadIdx.x] = at;
}
"""


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_a_loop_waits_if_its_end_depends_on_what_it_loads(arch: str) -> None:
    module = wl.compile(source=SOURCE, arch=arch)
    found = {name for name in module if waiting_loads(module[name].program)}
    assert found == {"flag", "upper", "together"}
