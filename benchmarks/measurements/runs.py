"""Threads that each load 4 or 16 words in a row of their own, all before they wait."""

from __future__ import annotations

from gpu import Gpu

SOURCE = "".join(f"""
extern "C" __global__ void run_{n}(const float* x, float* sink, int times, int apart) {{
  const float* p = x + (blockIdx.x * (long long)blockDim.x + threadIdx.x) * apart;
  float s = 0;
  for (int t = 0; t < times; ++t) {{
#pragma unroll
    for (int i = 0; i < {n}; ++i) s += __ldca(p + t * {n} + i);
    if (s == 1e38f) *sink = s;
  }}
}}
""" for n in (4, 16))  # fmt: skip


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    times, apart, warps = int(row["times"]), int(row["apart"]), row["warps"]
    grid, block = (2344, 128) if "blocks" in warps else (gpu.multiprocessors * max(int(warps) // 32, 1), 0)
    block = block or 32 * min(int(warps), 32)
    size = 4 * (apart * grid * block + times * int(row["words"]))
    gpu.start(f"run_{row['words']}", grid, block, gpu.zeros(size), gpu.sink, times, apart)
    return True
