"""Cycles a line of 64 that one warp on each multiprocessor loads one after the other, alone or with others."""

from __future__ import annotations

from gpu import COMMON, Gpu

READS = ("mean_cycles", "most_cycles", "least_cycles")
SOURCE = (
    COMMON
    + """
extern "C" __global__ void walk(const int* x, i64* cycles, int sharing, int words) {
  const int* p = x + (i64)(blockIdx.x / sharing) * 64 * words;
  i64 began = clock64();
  int s = 0;
  for (int k = 0; k < 64; ++k) s += __ldcg(p + k * words + s);
  cycles[blockIdx.x] = clock64() - began + s;
}
"""
)


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    blocks, words = int(row["blocks"]), int(row["apart_bytes"]) // 4
    x, cycles = gpu.zeros(4 * 64 * words * blocks), gpu.zeros(8 * blocks).view(gpu.cupy.int64)
    args = x, cycles, int(row["sharing"]), words
    gpu.start("walk", blocks, 32, *args)
    if row["in_l2"] == "0":
        gpu.sweep()
    gpu.start("walk", blocks, 32, *args)
    each = cycles.get() / 64
    return dict(zip(READS, (float(each.mean()), float(each.max()), float(each.min())), strict=True))
