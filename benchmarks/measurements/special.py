"""Cycles of an S2R and two instructions on its result, by warps of a multiprocessor."""

from __future__ import annotations

from gpu import Gpu

READS = ("cycles", "cycles_of_the_slowest")
SOURCE = """
extern "C" __global__ void places(long long* cycles, unsigned* sink) {
  unsigned s = 0, place;
  long long began = clock64();
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(place));
    s += place;
  }
  if (s == 12345) *sink = s;
  cycles[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = clock64() - began;
}
"""


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    warps = int(row["warps_a_multiprocessor"])
    cycles = gpu.zeros(8 * warps * gpu.multiprocessors).view(gpu.cupy.int64)
    gpu.start("places", gpu.multiprocessors, 32 * warps, cycles, gpu.sink)
    each = cycles.get() / 64
    return {"cycles": float(each.mean()), "cycles_of_the_slowest": float(each.max())}
