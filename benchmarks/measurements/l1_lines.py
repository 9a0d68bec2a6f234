"""How many lines are left in L1 of some that one warp has touched before others."""

from __future__ import annotations

import re

from gpu import COMMON, Gpu

READS = ("left",)
HIT = 230  # cycles: a hit takes 120, a miss 340
SOURCE = (
    COMMON
    + """
// Each touch: its first line, how many, whether it stores, which sector; the lines of the last are loaded one by one.
extern "C" __global__ void touch(float* x, const int4* touches, int count, int apart, int* left, float* sink) {
  float s = 0;
  for (int t = 0; t < count; ++t)
    for (int l = touches[t].x; l < touches[t].x + touches[t].y; ++l) {
      float* p = x + (i64)l * apart * 32 + touches[t].w * 8;
      if (touches[t].z) { *p = s; continue; }
      i64 began = clock64();
      s += __ldca(p);
      if (s == 1e38f) *sink = s;
      if (t == count - 1 && clock64() - began < 230) ++*left;
    }
}
"""
)


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, int] | None:
    touches = []
    for word in row["touches"].split():
        match = re.fullmatch(r"(\d+)\+(\d+)(s?)('?)", word)
        if not match:
            return None
        touches.append((int(match[1]), int(match[2]), int(bool(match[3])), int(bool(match[4]))))
    apart = int(row["apart"])
    lines = max(first + count for first, count, _, _ in touches)
    left = gpu.zeros(4)
    carveout = 100 * int(row["carveout_kib"]) // 228
    said = gpu.cupy.array(touches, gpu.cupy.int32)
    x = gpu.zeros(128 * lines * apart)
    gpu.start("touch", 1, 1, x, said, len(touches), apart, left, gpu.sink, carveout=carveout)
    return {"left": int(left.get()[0])}
