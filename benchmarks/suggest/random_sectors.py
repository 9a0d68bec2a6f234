"""Times of loads of single sectors on a GPU: `random_sectors.py OUT.csv` (needs CuPy).

Each lane of a warp reads a sector of its own, or lanes read rows; 1 to 8 loads of a thread at once, arrays of 1 to
16 MiB, with L2 empty (swept by 512 MiB) and with the arrays in it; and gathers, plain and in a grid-stride loop.
"""

from __future__ import annotations

import csv
import datetime
import statistics
import subprocess
import sys
from typing import Any

import cupy as cp

SOURCE = r"""
__device__ unsigned mixed(unsigned x) {
  x *= 0x9E3779B1u; x ^= x >> 15; x *= 0x85EBCA77u; x ^= x >> 13;
  return x;
}
template <int N> __device__ void load(const float* in, float* out, unsigned mask, int single) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  float v[N], sum = 0;
  #pragma unroll
  for (int k = 0; k < N; k++) v[k] = in[single ? mixed(t * N + k) * 8 & mask : t + k * gridDim.x * blockDim.x & mask];
  #pragma unroll
  for (int k = 0; k < N; k++) sum += v[k];
  out[t] = sum;
}
#define LOADS(N) extern "C" __global__ void g##N(const float* in, float* out, unsigned mask, int single) { \
  load<N>(in, out, mask, single); }
LOADS(1) LOADS(2) LOADS(4) LOADS(8)
extern "C" __global__ void gather(const float* in, const int* at, float* out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) out[t] = in[at[t]];
}
extern "C" __global__ void gatherp(const float* in, const int* at, float* out, int n) {
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < n; t += blockDim.x * gridDim.x) out[t] = in[at[t]];
}
"""
THREADS, RUNS = 256, 15
DRIVER = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]


def time_us(kernel: Any, blocks: int, arguments: tuple[Any, ...], sweep: Any) -> float:
    times = []
    for number in range(RUNS):
        if sweep is None:
            kernel((blocks,), (THREADS,), arguments)
        else:
            sweep[...] = number % 100
        first, last = cp.cuda.Event(), cp.cuda.Event()
        first.record()
        kernel((blocks,), (THREADS,), arguments)
        last.record()
        last.synchronize()
        times.append(1000 * cp.cuda.get_elapsed_time(first, last))
    return statistics.median(times)


def main() -> None:
    module, sweep = cp.RawModule(code=SOURCE, options=("-std=c++17",)), cp.zeros(512 << 20, cp.uint8)
    gpu = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    driver = subprocess.run(DRIVER, capture_output=True, text=True, check=True).stdout.strip()
    out = cp.zeros(1 << 24, cp.float32)
    with open(sys.argv[1], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kernel", "blocks", "array_bytes", "access", "cold_us", "warm_us", "gpu", "date", "driver"))

        def row(name: str, blocks: int, size: int, access: str, arguments: tuple[Any, ...]) -> None:
            kernel = module.get_function(name)
            cold, warm = (time_us(kernel, blocks, arguments, swept) for swept in (sweep, None))
            about = (gpu, datetime.date.today(), driver)
            writer.writerow((name, blocks, size, access, f"{cold:.3f}", f"{warm:.3f}", *about))

        for size in (1 << 20, 1 << 22, 1 << 24):
            array, mask = cp.zeros(size // 4, cp.float32), cp.uint32(size // 4 - 1)
            for name in ("g1", "g2", "g4", "g8"):
                for blocks in (1056, 4096, 16384):
                    for single, access in ((1, "random"), (0, "rows")):
                        row(name, blocks, size, access, (array, out, mask, cp.int32(single)))
        for n in (1 << 18, 1 << 20, 1 << 22):
            array = cp.random.random(n, dtype=cp.float32)
            places = {"random": cp.random.randint(0, n, n, dtype=cp.int32), "rows": cp.arange(n, dtype=cp.int32)}
            for access, at in places.items():
                row("gather", n // THREADS, 4 * n, access, (array, at, out, cp.int32(n)))
                for blocks in (528, 1056):
                    row("gatherp", blocks, 4 * n, access, (array, at, out, cp.int32(n)))


if __name__ == "__main__":
    main()
