"""Which multiprocessor each block goes to, in order of their numbers."""

from __future__ import annotations

from math import prod

from gpu import COMMON, Gpu

READS = ("multiprocessors",)
SHARED = 228 << 10  # bytes of a multiprocessor, of which each block takes one more
SOURCE = (
    COMMON
    + """
extern "C" __global__ void order(unsigned* where, int unequal) {
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0) where[block] = smid();
  i64 until = clock64() + 20000 + (unequal ? mixed(block) % 40000 : 0);
  while (clock64() < until) {}
}
"""
)


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, str]:
    work, _, shape = row["work"].partition(", ")
    grid = tuple(int(n) for n in shape.split(" x ")) if shape else (int(row["blocks"]),)
    where = gpu.zeros(4 * prod(grid))
    shared = min(SHARED // int(row["resident"]) - 1024, 227 << 10)
    gpu.start("order", grid, int(row["threads"]), where, int(work == "unequal"), shared=shared)
    return {"multiprocessors": " ".join(str(n) for n in where.get())}
