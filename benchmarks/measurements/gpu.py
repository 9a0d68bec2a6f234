"""A GPU through CuPy: launches of a program's kernels, their times and counters."""

from __future__ import annotations

import statistics
from functools import cached_property
from typing import Any

SWEPT = 512 << 20  # bytes that are read before each launch, so that L2 has nothing else
SWEEP = """
extern "C" __global__ void sweep_l2(const float4* x, float* sink, long long n) {
  float s = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) s += x[i].x;
  if (s == 1e38f) *sink = s;
}
"""
COMMON = """
typedef long long i64;
__device__ __forceinline__ unsigned mixed(unsigned h) {
  h ^= h >> 16; h *= 0x7feb352du; h ^= h >> 15; h *= 0x846ca68bu; return h ^ h >> 16;
}
__device__ __forceinline__ unsigned smid() { unsigned n; asm volatile("mov.u32 %0, %%smid;" : "=r"(n)); return n; }
__device__ __forceinline__ void busy(float& f, int times) {
#pragma unroll 1
  for (int i = 0; i < times; ++i) asm volatile("fma.rn.f32 %0,%0,%0,%0;" : "+f"(f));
}
"""
# Lasts until the GPU's timer has advanced, so that what is launched behind it waits in the queue.
SPIN = """
extern "C" __global__ void spin(long long ns) {
  long long now, end;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
  end += ns;
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now < end);
}
"""


class Gpu:
    """source: CUDA C++ with COMMON before it;  profiled: under Nsight Compute, which looks at `start` alone."""

    def __init__(self, source: str, profiled: bool = False) -> None:
        import cupy

        self.cupy = cupy
        self.profiled = profiled
        self.module = cupy.RawModule(code=SWEEP + source, options=("--std=c++17",))
        self.multiprocessors = int(cupy.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"])
        self.sink = cupy.zeros(1024, cupy.float32)

    @cached_property
    def swept(self) -> Any:
        return self.cupy.zeros(SWEPT // 4, self.cupy.float32)

    def zeros(self, size: int) -> Any:
        """Bytes, as words of 4."""
        return self.cupy.zeros(-(-size // 4), self.cupy.uint32)

    def start(
        self, kernel: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *args: Any, shared: int = 0,
        carveout: int = -1,
    ) -> None:  # fmt: skip
        found = self.module.get_function(kernel)
        if shared > 48 << 10:
            found.max_dynamic_shared_size_bytes = shared
        if carveout >= 0:
            found.preferred_shared_memory_carveout = carveout
        self.cupy.cuda.Device().synchronize()
        if self.profiled:
            self.cupy.cuda.runtime.profilerStart()
        found(*(size if isinstance(size, tuple) else (size,) for size in (grid, block)), args, shared_mem=shared)
        if self.profiled:
            self.cupy.cuda.Device().synchronize()
            self.cupy.cuda.runtime.profilerStop()

    def times(
        self, kernel: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *args: Any, shared: int = 0,
        runs: int = 9, read_before: Any = None, stored_before: bool = False,
    ) -> list[float]:  # fmt: skip
        """Microseconds between events around each launch, rising.

        read_before     an array that L2 has;  stored_before: what has been stored waits in L2 to be written
        """
        found, sweep = self.module.get_function(kernel), self.module.get_function("sweep_l2")
        sizes, threads = (size if isinstance(size, tuple) else (size,) for size in (grid, block))
        done = []
        for _ in range(runs + 1):
            start, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
            for _ in range(2):
                sweep((1056,), (256,), (self.swept, self.sink, SWEPT // 16))
            if stored_before:
                self.swept.fill(0)
            if read_before is not None:
                sweep((1056,), (256,), (read_before, self.sink, read_before.nbytes // 16))
            start.record()
            found(sizes, threads, args, shared_mem=shared)
            end.record()
            end.synchronize()
            done.append(1000 * self.cupy.cuda.get_elapsed_time(start, end))
        return sorted(done[1:])

    def time(
        self, kernel: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *args: Any, **how: Any
    ) -> float:
        return statistics.median(self.times(kernel, grid, block, *args, **how))

    def sweep(self) -> None:
        self.module.get_function("sweep_l2")((1056,), (256,), (self.swept, self.sink, SWEPT // 16))
