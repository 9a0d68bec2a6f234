"""Sectors that L1 asks L2 for and that arrive there, of blocks that read the same in step (no `steps of tiles`)."""

from __future__ import annotations

import re

from gpu import COMMON, Gpu

TEX, FABRIC = "lts__t_sectors_srcunit_tex", "lts__t_sectors_srcunit_ltcfabric"
LD = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld"
COUNTERS = {
    "nanoseconds": "gpu__time_duration.sum", "l1_sectors_loaded": f"{LD}.sum", "l1_hits": f"{LD}_lookup_hit.sum",
    "l2_reads": f"{TEX}.sum", "l2_read_hits": f"{TEX}_lookup_hit.sum", "l2_fabric": f"{FABRIC}.sum",
    "l2_fabric_hits": f"{FABRIC}_lookup_hit.sum", "l2_sectors": "lts__t_sectors.sum",
    "l2_hits": "lts__t_sectors_lookup_hit.sum",
}  # fmt: skip
SOURCE = (
    COMMON
    + """
__device__ void pause(int cycles) { i64 until = clock64() + cycles; while (clock64() < until) {} }
extern "C" __global__ void second(const int* x, int* sink, int words, int after) {
  const int* p = x + (i64)(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32 * 64;
  int s = 0;
  for (int r = 0; r < 32; ++r) {
    s += __ldcg(p + r * 64);
    pause(after);
    s += __ldcg(p + r * 64 + words);
  }
  if (s) *sink = s;
}
extern "C" __global__ void line_by_words(const int* x, int* sink, int rounds) {
  int warps = gridDim.x * blockDim.x / 32, warp = (threadIdx.x + blockIdx.x * blockDim.x) / 32, s = 0;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 32; ++i) s += __ldca(x + (r * warps + warp) * 32 + i);
  if (s) *sink = s;
}
extern "C" __global__ void same_table(const int4* x, int* sink, int n, int after) {
  int s = 0;
  pause(blockIdx.x * after);
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i].x;
  if (s) *sink = s;
}
extern "C" __global__ void same_words(const int* x, int* sink, int n) {
  int s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i];
  if (s) *sink = s;
}
extern "C" __global__ void table(const int4* x, const int* own, int* sink, int n, int rounds, int lines, int wait) {
  int s = 0;
  const int* p = own + (i64)(blockIdx.x * blockDim.x + threadIdx.x) / 32 * lines * 32;
  for (int k = 0; k < lines; ++k) s += __ldcg(p + k * 32 + s);
  for (int r = 0; r < rounds; ++r) {
    if (wait) pause(wait);
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += __ldcg(x + i + s).x;
  }
  if (s) *sink = s;
}
extern "C" __global__ void chain(const int* x, int* sink, unsigned words, int own) {
  int s = 0, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int k = 0; k < 64; ++k) s += __ldcg(x + mixed(k + (own ? warp * 64 : 0)) % words + s);
  if (s) *sink = s;
}
"""
)


def launch(gpu: Gpu, row: dict[str, str]) -> bool | None:
    what, sink, all_of_them = row["what"], gpu.sink, gpu.multiprocessors
    numbers = [int(n) for n in re.findall(r"\d+", what)]
    sectors = int(row["l1_sectors_loaded"])
    if what.startswith("second"):
        warps = numbers[2] if len(numbers) > 2 else 4
        x = gpu.zeros(256 * 32 * warps * all_of_them + 256)
        gpu.start("second", all_of_them, 32 * warps, x, sink, *numbers[:2])
    elif what.startswith("line by words"):
        rounds = sectors // (32 * numbers[0] * all_of_them)
        x = gpu.zeros(128 * rounds * numbers[0] * all_of_them)
        gpu.start("line_by_words", all_of_them, 32 * numbers[0], x, sink, rounds)
    elif what.startswith("same table"):
        kib, blocks, after = numbers
        gpu.start("same_table", blocks, 256, gpu.zeros(kib << 10), sink, kib * 64, after)
    elif what.startswith("same words"):
        gpu.start("same_words", numbers[1], 256, gpu.zeros(numbers[0] << 10), sink, numbers[0] * 256)
    elif what.startswith("table of"):
        gpu.start("table", numbers[0], 256, gpu.zeros(1 << 16), sink, sink, 4096, 1, 0, 0)
    elif what.startswith("table after"):
        own = gpu.zeros(128 * 8 * all_of_them * numbers[0])
        gpu.start("table", all_of_them, 256, gpu.zeros(1 << 16), own, sink, 4096, 1, numbers[0], 0)
    elif what.startswith("rounds"):
        pause = numbers[1] if "pauses" in what else 0
        kib = numbers[1] if "KiB" in what else 16
        block = 1024 if kib == 1024 else 256
        gpu.start("table", all_of_them, block, gpu.zeros(kib << 10), sink, sink, kib * 64, numbers[0], 0, pause)
    elif what.startswith("chain"):
        warps = sectors // (64 * all_of_them)
        gpu.start("chain", all_of_them, 32 * warps, gpu.zeros(numbers[1] << 10), sink, numbers[1] * 256, numbers[0])
    else:
        return None
    return True
