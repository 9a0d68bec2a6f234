"""How many accesses of an SM's warps may wait for L1: those that miss, and those that ask for a line on its way.

Blocks of `warps` warps, `blocks` of them an SM; every `together` warps of a block ask for the same lines, `same` lanes
of a warp for the same element of `bytes`, and every `every`-th warp asks at all.  A thread asks for `unrolled` elements
in a row before it adds them up, 512 in all.
"""

from __future__ import annotations

from gpu import COMMON, Gpu

STEPS = 512
TYPES = {4: "float", 8: "float2", 16: "float4"}
UNROLLED = (1, 2, 4, 8, 16, 24, 32)
SOURCE = COMMON + "".join(f"""
extern "C" __global__ void requests_{size}_{u}(
    const {kind}* b, float* sink, int n, int steps, int together, int same, int every) {{
  int warp = threadIdx.y, warps = blockDim.y;
  if (warp % every) return;
  warp /= every; warps /= every;
  const {kind}* mine = b + (blockIdx.x * (warps / together) + warp / together) * 32 + threadIdx.x / same;
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < steps; k += {u}) {{
    {kind} had[{u}];
#pragma unroll
    for (int j = 0; j < {u}; ++j) had[j] = mine[(k + j) * n];
#pragma unroll
    for (int j = 0; j < {u}; ++j) s += *(float*)&had[j];
  }}
  if (s == 1e38f) *sink = s;
}}
""" for size, kind in TYPES.items() for u in UNROLLED)  # fmt: skip
READS = ("us",)


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    size, u, blocks, warps, together, same, every = (
        int(row[c]) for c in ("bytes", "unrolled", "blocks", "warps", "together", "same", "every")
    )
    import numpy as np

    n, steps = gpu.multiprocessors * blocks * (warps // every // together) * 32, STEPS // u * u
    array = gpu.zeros(steps * n * size)
    numbers = [np.int32(i) for i in (n, steps, together, same, every)]
    us = gpu.time(f"requests_{size}_{u}", gpu.multiprocessors * blocks, (32, warps), array, gpu.sink, *numbers)
    return {"us": round(us, 2)}
