"""Instruction caches: cycles an instruction of loops whose code is so long, by the warps of an SM that execute them.

The body of a loop is `instructions` FFMA, 8 chains of them, so that one warp a sub-partition could issue one each
cycle. `executed` of every 128 are executed and the others branched over. Read: cycles of a sub-partition for one
executed instruction of a warp (`cycles`), after a first round that finds other code in all
caches (`first`).
"""

from __future__ import annotations

import statistics

from gpu import COMMON, Gpu

SIZES = (64, 128, 192, 256, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384)
SKIPPED = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
FFMA = "".join(f'  asm volatile("fma.rn.f32 %0,%0,%1,%2;" : "+f"(f{k}) : "f"(a), "f"(b));\n' for k in range(8))
REPEATED = 16384  # executed instructions a warp at least


def kernel(name: str, size: int, executed: int) -> str:
    if executed == 128:
        body = FFMA * (size // 8)
    else:
        hot, cold = FFMA * (executed // 8), FFMA * ((128 - executed) // 8)
        body = "".join(f"{hot}  if (never == {n}) {{\n{cold}  }}\n" for n in range(size // 128))
    return f"""
extern "C" __global__ void {name}(
    unsigned* first, unsigned* cycles, float* sink, int rounds, float a, float b, int never) {{
  float {", ".join(f"f{k} = threadIdx.x + {k}" for k in range(8))};
  unsigned begin = 0, start = (unsigned)clock();
#pragma unroll 1
  for (int r = 0; r <= rounds; ++r) {{
    if (r == 1) {{
      if ((threadIdx.x & 31) == 0) atomicMax(first + blockIdx.x, (unsigned)clock() - start);
      __syncthreads();
      begin = (unsigned)clock();
    }}
{body}
  }}
  unsigned end = (unsigned)clock();
  if (f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 == 1e38f) *sink = f0;
  if ((threadIdx.x & 31) == 0) atomicMax(cycles + blockIdx.x, end - begin);
}}
"""


SOURCE = COMMON + "".join(
    [kernel(f"all_{size}", size, 128) for size in SIZES] + [kernel(f"some_{size}", size, 32) for size in SKIPPED]
)
READS = ("cycles", "first")


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    import numpy as np

    size, executed, warps = int(row["instructions"]), int(row["executed"]), int(row["warps"])
    each = size * executed // 128
    rounds = max(REPEATED // each, 2)
    blocks = gpu.multiprocessors * (2 if warps == 64 else 1)
    first, cycles = gpu.zeros(4 * blocks), gpu.zeros(4 * blocks)
    numbers = np.int32(rounds), np.float32(1), np.float32(0), np.int32(-1)
    name, threads = f"{'all' if executed == 128 else 'some'}_{size}", 32 * min(warps, 32)
    flush = gpu.zeros(4 * blocks), gpu.zeros(4 * blocks), gpu.sink, np.int32(1), *numbers[1:]
    found = []
    for _ in range(5):
        first[:], cycles[:] = 0, 0
        gpu.start("all_16384", gpu.multiprocessors, 32, *flush)
        gpu.sweep()
        gpu.start(name, blocks, threads, first, cycles, gpu.sink, *numbers)
        found.append([float(one.get().mean()) for one in (first, cycles)])
    cold, warm = (statistics.median(column) for column in zip(*found[1:], strict=True))
    issues = each * warps / 4
    return {"cycles": round(warm / (rounds * issues), 3), "first": round(cold / issues, 3)}
