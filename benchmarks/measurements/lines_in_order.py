"""Cycles of a cold load of each warp, and how often the lines behind a slow or a fast one are slow or fast, too."""

from __future__ import annotations

import numpy as np
from gpu import COMMON, Gpu

SHARES = {"p10": 10, "half": 50, "p90": 90, "p99": 99}
BEHIND = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64)
READS = (
    "mean", "deviation", *SHARES, "slowest_of_block",
    *(f"{what}_{n}_on" for what in ("slow", "fast") for n in BEHIND),
)  # fmt: skip
SOURCE = (
    COMMON
    + """
extern "C" __global__ void once(const float* x, i64* cycles, float* sink, unsigned lines, int words, int anywhere) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  i64 line = anywhere ? mixed(warp) % lines : warp;
  const float* p = x + (line * 32 + threadIdx.x % 32) * words;
  i64 began = clock64();
  float a = __ldcg(p), b = words == 2 ? __ldcg(p + 1) : 0;
  if (a + b == 1e38f) *sink = a;
  cycles[warp] = clock64() - began;
}
"""
)


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    words = int(row["bytes_a_lane"]) // 4
    warps, in_block = int(row["warps"]), int(row["threads"]) // 32
    lines, cycles = 1 << 22, gpu.zeros(8 * warps).view(gpu.cupy.int64)
    x = gpu.zeros(128 * words * lines)
    gpu.sweep()
    args = x, cycles, gpu.sink, lines, words, int(row["lines"] == "anywhere")
    gpu.start("once", int(row["blocks"]), int(row["threads"]), *args)
    taken = cycles.get().astype(np.float64)
    slow, fast = taken >= np.percentile(taken, 90), taken <= np.percentile(taken, 35)
    found = {"mean": taken.mean(), "deviation": taken.std()}
    found["slowest_of_block"] = taken.reshape(-1, in_block).max(1).mean()
    found |= {name: np.percentile(taken, share) for name, share in SHARES.items()}
    for what, which in (("slow", slow), ("fast", fast)):
        for n in BEHIND:
            found[f"{what}_{n}_on"] = (which[:-n] & which[n:]).sum() / which[:-n].sum()
    return {name: float(value) for name, value in found.items()}
