"""Hits in L1 of lines that warps load and then load or store to once more, and of a table beside new lines."""

from __future__ import annotations

from gpu import COMMON, Gpu

BLOCKS = 16
OPS = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
COUNTERS = {
    "sectors_loaded": f"{OPS}ld.sum", "loads_hit": f"{OPS}ld_lookup_hit.sum", "sectors_stored": f"{OPS}st.sum",
    "stores_hit": f"{OPS}st_lookup_hit.sum",
}  # fmt: skip
SOURCE = (
    COMMON
    + """
extern "C" __global__ void again(float* x, float* sink, int lines, int rounds, int store, int step) {
  int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  float s = 0;
  for (int r = 0; r < rounds; ++r)
    for (int turn = 0; turn < 2; ++turn) {
      if (step) __syncthreads();
      for (int l = threadIdx.x / 32; l < lines; l += warps) {
        float* p = x + ((i64)(blockIdx.x * rounds + r) * lines + l) * 32 + lane;
        if (turn && store) *p = s; else s += __ldca(p);
      }
    }
  if (s == 1e38f) *sink = s;
}
extern "C" __global__ void table(float* x, float* sink, int lines, int rounds, int more) {
  int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const float* fresh = x + (i64)gridDim.x * lines * 32 + (i64)warp * rounds * more * 32 + lane;
  float s = 0;
  for (int r = 0; r < rounds; ++r) {
    s += __ldca(x + ((i64)blockIdx.x * lines + mixed(warp * rounds + r) % lines) * 32 + lane);
    for (int k = 0; k < more; ++k) s += __ldca(fresh + (r * more + k) * 32);
  }
  if (s == 1e38f) *sink = s;
}
"""
)


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    warps, lines, rounds, what = int(row["warps"]), int(row["lines"]), int(row["rounds"]), row["what"]
    if what.startswith("a table"):
        more = int(what.split()[3])
        x = gpu.zeros(128 * BLOCKS * (lines + warps * rounds * more))
        gpu.start("table", BLOCKS, 32 * warps, x, gpu.sink, lines, rounds, more)
        return True
    x = gpu.zeros(128 * BLOCKS * rounds * lines)
    gpu.start(
        "again", BLOCKS, 32 * warps, x, gpu.sink, lines, rounds, int("stored to" in what), int(what.endswith("in step"))
    )
    return True
