"""How fast the executor multiplies: bf16 products by mma.sync and by wgmma, of numbers like noise.

    python benchmarks/matrix_products.py

Million multiply-adds a second of one core's processor time: of the instructions alone, whose operands stay the same,
and of whole kernels of the lab tensor_gemm.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import warplens as wl

LAB = Path(__file__).parent.parent / "src" / "warplens" / "labs" / "tensor_gemm"
REPEATS, MILLION, SIZE = 40, 1e6, 512
SUMS = ", ".join(f'"+f"(c[{n}])' for n in range(64))
PLACES = ",".join(f"%{n}" for n in range(64))
SOURCE = """
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void warps(const unsigned* x, float* out, int rounds) {
  unsigned a[4], b[2];
  float c[4] = {};
  for (int i = 0; i < 4; i++) a[i] = x[threadIdx.x * 4 + i];
  for (int i = 0; i < 2; i++) b[i] = x[512 + threadIdx.x * 2 + i];
  for (int r = 0; r < rounds; r++)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = c[i];
}
extern "C" __global__ void warpgroup(const uint4* x, float* out, int rounds) {
  extern __shared__ __align__(1024) uint4 s[];
  for (int i = threadIdx.x; i < 2048; i += 128) s[i] = x[i];
  __syncthreads();
  asm volatile("fence.proxy.async;");
  float c[64] = {};
  unsigned long long base = 1ull << 62 | 64ull << 32 | 1ull << 16;
  unsigned long long a = base | (at(s) & 0x3ffff) >> 4, b = base | (at(s + 512) & 0x3ffff) >> 4;
  for (int r = 0; r < rounds; r++) {
    asm volatile("wgmma.fence.sync.aligned;");
    for (int k = 0; k < 4; k++)
      asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {PLACES}, %64, %65, 1, 1, 1, 0, 0;"
                   : SUMS : "l"(a + 2 * k), "l"(b + 2 * k));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
  }
  for (int i = 0; i < 64; i++) out[threadIdx.x * 64 + i] = c[i];
}
""".replace("SUMS", SUMS).replace("PLACES", PLACES)


def noise(numbers: int) -> NDArray[np.uint16]:
    """bf16 between -0.5 and 0.5."""
    found = np.random.default_rng(1).random(numbers, np.float32) - np.float32(0.5)
    return (found.view(np.uint32) >> 16).astype(np.uint16)


def seconds(launch: Callable[[], object]) -> float:
    """Processor time, the least of several."""
    found = []
    for _ in range(REPEATS):
        begun = time.process_time()
        launch()
        found.append(time.process_time() - begun)
    return min(found)


def alone(kernel: str, each: int, rounds: int, shared: int) -> float:
    """Of a kernel of SOURCE: multiply-adds a second of so many rounds, of `each`."""
    code = wl.compile(source=SOURCE, arch="sm_90a")[kernel]
    x, out = noise(1 << 16).view(np.uint32), np.zeros(1 << 13, np.float32)
    long, short = (seconds(lambda n=n: code.launch(1, 128, x, out, np.int32(n), shared=shared)) for n in (rounds, 1))
    return each * (rounds - 1) / (long - short)


def whole(rung: str, shared: int) -> float:
    code = wl.compile(LAB / f"{rung}.cu", arch="sm_90a")["gemm"]
    a, b, c = noise(SIZE * SIZE), noise(SIZE * SIZE), np.zeros(SIZE * SIZE, np.uint16)
    grid = SIZE // 128, SIZE // 128
    return SIZE**3 / seconds(lambda: code.launch(grid, 256, a, b, c, np.int32(SIZE), shared=shared))


def main() -> None:
    for name, found in (
        ("mma.sync alone", alone("warps", 4 * 16 * 8 * 16, 2000, 0)),
        ("wgmma alone", alone("warpgroup", 4 * 64 * 128 * 16, 20, 32 << 10)),
        ("mma.sync, 3_ldmatrix", whole("3_ldmatrix", 0)),
        ("wgmma, 5_wgmma", whole("5_wgmma", 128 << 10)),
    ):
        print(f"{name:22} {found / MILLION:6.0f} million multiply-adds a second", flush=True)


if __name__ == "__main__":
    main()
