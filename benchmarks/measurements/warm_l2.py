"""L2 that is warm from the launch before: times of steps that are repeated, and of the last step alone.

A row is a sequence of steps (`steps`; the last one is measured) on arrays x and y of `mebibytes` each and z of 256
MiB.  Read: microseconds of a round of all steps, 20 rounds back to back (`round_us`); of the last step between two
events, in the fourth round (`last_us`), and after a sweep of L2 (`cold_us`).  The queue is full when the GPU begins.

    read, read_back    each thread one float4, blocks in ascending or descending order
    stride             the same by 8 blocks an SM in a loop
    write, copy, change   likewise: stored, from x to y, changed in place
    stencil            five points of rows of 4,096 floats, from x to y
    gather, add        4 Mi words anywhere in x: read, or added to
    fill, move, in, out   cudaMemset, cudaMemcpy from x to y, from page-locked memory to x and back
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from gpu import COMMON, SPIN, Gpu

SOURCE = (
    COMMON
    + SPIN
    + """
extern "C" __global__ void read(const float4* x, float* sink, int back) {
  unsigned block = back ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  float4 v = x[(i64)block * 256 + threadIdx.x];
  if (v.x == 1e38f) *sink = v.x;
}
extern "C" __global__ void stride(const float4* x, float* sink, i64 n) {
  float s = 0;
  for (i64 i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) s += x[i].x;
  if (s == 1e38f) *sink = s;
}
extern "C" __global__ void write(float4* x) { x[(i64)blockIdx.x * 256 + threadIdx.x] = make_float4(1, 2, 3, 4); }
extern "C" __global__ void copy(const float4* x, float4* y) {
  i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  y[i] = x[i];
}
extern "C" __global__ void change(float4* x) { x[(i64)blockIdx.x * 256 + threadIdx.x].x += 1; }
extern "C" __global__ void stencil(const float* x, float* y, i64 n) {
  i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  if (i >= 4096 && i < n - 4096) y[i] = x[i] + x[i - 1] + x[i + 1] + x[i - 4096] + x[i + 4096];
}
extern "C" __global__ void gather(const float* x, float* sink, unsigned words) {
  float v = x[mixed(blockIdx.x * 256 + threadIdx.x) % words];
  if (v == 1e38f) *sink = v;
}
extern "C" __global__ void add(int* x, unsigned words) {
  atomicAdd(x + mixed(blockIdx.x * 256 + threadIdx.x) % words, 1);
}
"""
)
READS = ("round_us", "last_us", "cold_us")
ROUNDS, BEFORE = 20, 3
TIMES = 5
ANYWHERE = 1 << 22  # words of gather and add
Z_BYTES = 256 << 20
Step = Callable[[], None]


class Steps:
    """Steps on the arrays of one row."""

    def __init__(self, gpu: Gpu, mebibytes: int) -> None:
        cupy = gpu.cupy
        self.gpu, self.bytes = gpu, mebibytes << 20
        self.arrays = {"x": gpu.zeros(self.bytes), "y": gpu.zeros(self.bytes), "z": None}
        self.host: Any = None
        self.stream = cupy.cuda.get_current_stream().ptr

    def array(self, name: str) -> Any:
        if self.arrays[name] is None:
            self.arrays[name] = self.gpu.zeros(Z_BYTES)
        return self.arrays[name]

    def step(self, text: str) -> Step:
        """`read x`, `copy x y` ..."""
        what, *names = text.split()
        if what in ("in", "out") and self.host is None:
            self.host = self.gpu.cupy.cuda.alloc_pinned_memory(self.bytes)
        to = [self.array(name) for name in names]
        size = to[0].nbytes
        runtime = self.gpu.cupy.cuda.runtime
        pointers = [one.data.ptr for one in to]
        match what:
            case "fill":
                return lambda: runtime.memsetAsync(pointers[0], 0, size, self.stream)
            case "move":
                return lambda: runtime.memcpyAsync(pointers[1], pointers[0], size, 3, self.stream)
            case "in":
                return lambda: runtime.memcpyAsync(pointers[0], self.host.ptr, size, 1, self.stream)
            case "out":
                return lambda: runtime.memcpyAsync(self.host.ptr, pointers[0], size, 2, self.stream)
        return self._kernel(what, to, size)

    def _kernel(self, what: str, to: list[Any], size: int) -> Step:
        import numpy

        sink = self.gpu.sink
        by_16, words = size // 4096, numpy.uint32(size // 4)
        grid, args = {
            "read": (by_16, (sink, numpy.int32(0))),
            "read_back": (by_16, (sink, numpy.int32(1))),
            "stride": (8 * self.gpu.multiprocessors, (sink, numpy.int64(size // 16))),
            "write": (by_16, ()),
            "copy": (by_16, ()),
            "change": (by_16, ()),
            "stencil": (4 * by_16, (numpy.int64(size // 4),)),
            "gather": (ANYWHERE // 256, (sink, words)),
            "add": (ANYWHERE // 256, (words,)),
        }[what]
        kernel = self.gpu.module.get_function("read" if what == "read_back" else what)
        return lambda: kernel((grid,), (256,), (*to, *args))


def steps_of(gpu: Gpu, row: dict[str, str]) -> list[Step]:
    made = Steps(gpu, int(row["mebibytes"]))
    return [made.step(text) for text in row["steps"].split(", ")]


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    cupy, steps = gpu.cupy, steps_of(gpu, row)
    spin = gpu.module.get_function("spin")
    copies = any(text.split()[0] in ("in", "out") for text in row["steps"].split(", "))

    def between(before: int, after: list[Step]) -> float:
        """Microseconds of `after`, behind so many rounds."""
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        gpu.sweep()
        spin((1,), (1,), (1_500_000,))
        for step in steps * before + (steps[:-1] if before else []):
            step()
        start.record()
        for step in after:
            step()
        end.record()
        end.synchronize()
        return 1000 * float(cupy.cuda.get_elapsed_time(start, end))

    def median(*how: Any) -> float:
        return statistics.median([between(*how) for _ in range(TIMES + 1)][1:])

    rounds = 4 if copies else ROUNDS
    last = [steps[-1]]
    in_row = median(BEFORE, (last + steps[:-1]) * rounds) / rounds
    return {
        "round_us": round(in_row, 3), "last_us": round(median(BEFORE, last), 3), "cold_us": round(median(0, last), 3)
    }  # fmt: skip
