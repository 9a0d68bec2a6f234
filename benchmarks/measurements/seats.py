"""Blocks some of whose warps last longer than the others, or which do themselves: how many are there at once."""

from __future__ import annotations

from typing import Any

from gpu import COMMON, Gpu

READS = ("cycles", "blocks_at_once", "warps_at_once", "most_blocks")
KINDS = (
    "half of the warps", "a quarter of the warps", "one warp of each block", "warps at random", "blocks at random"
)  # fmt: skip
SOURCE = (
    COMMON
    + """
extern "C" __global__ void stay(i64* told, int kind, int more, int less, int together) {
  unsigned warp = threadIdx.x / 32, all = blockIdx.x * (blockDim.x / 32) + warp;
  unsigned drawn = mixed(kind == 4 ? blockIdx.x : all);
  bool longer = kind == 2 ? warp == 0 : drawn % (kind ? 4 : 2) == 0;
  int cycles = kind > 2 ? less + drawn % (more - less) : longer ? more : less;
  i64 began = clock64();
  if (together) __syncthreads();
  i64 until = clock64() + cycles;
  while (clock64() < until) __nanosleep(20);  // those that never sleep keep the others from issuing
  if (threadIdx.x % 32 == 0) { told[3 * all] = smid(); told[3 * all + 1] = began; told[3 * all + 2] = clock64(); }
}
"""
)


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    blocks, warps, shared = int(row["blocks"]), int(row["warps_of_block"]), int(row["shared_bytes"])
    told = gpu.zeros(24 * blocks * warps).view(gpu.cupy.int64)
    sizes = (int(row[key]) for key in ("long_cycles", "short_cycles", "barrier_first"))
    gpu.start("stay", blocks, 32 * warps, told, KINDS.index(row["longer"]), *sizes, shared=shared)
    of = told.get().reshape(blocks, warps, 3)
    each = [at_once(of[of[:, 0, 0] == n]) for n in range(gpu.multiprocessors)]
    means = [sum(values) / len(each) for values in zip(*each, strict=True)]
    return dict(zip(READS, (*means[:3], max(values[3] for values in each)), strict=True))


def at_once(told: Any) -> tuple[float, float, float, int]:
    """Of the blocks of one multiprocessor: its cycles, blocks and warps at once on the average, blocks at the most."""
    began, ended = told[:, :, 1].min(1), told[:, :, 2].max(1)
    cycles = float(ended.max() - began.min())
    changes = sorted([(t, 1) for t in began] + [(t, -1) for t in ended])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return cycles, float((ended - began).sum()) / cycles, float((told[:, :, 2] - told[:, :, 1]).sum()) / cycles, most
