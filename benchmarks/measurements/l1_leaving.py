"""Hits in L1 of stores to lines that the same warp has stored to before, by what comes between."""

from __future__ import annotations

from gpu import COMMON, Gpu

ROUNDS = 64  # at the most
COUNTERS = {
    "sectors_stored": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum",
    "sectors_sent": "l1tex__m_l1tex2xbar_write_sectors.sum",
}
SOURCE = (
    COMMON
    + """
__device__ void put(char* p, int lines, int sectors, float f) {
  int lane = threadIdx.x % 32, unit = lane * lines * sectors / 32;
  char* to = p + unit / sectors * 128 + unit % sectors * 32 + lane % 8 * 4;
  asm volatile("st.global.f32 [%0],%1;" ::"l"(to), "f"(f) : "memory");
}
extern "C" __global__ void others(char* y, float* sink, int lines, int sectors, int more, int rest) {
  char* p = y + (i64)((blockIdx.x * blockDim.x + threadIdx.x) / 32) * 32 * 128 * (lines + more + rest);
  float f = threadIdx.x;
  for (int r = 0; r < 32; ++r) {
    __syncthreads();
    put(p, lines, sectors, f);
    if (more) put(p + lines * 128, more, 1, f);
    if (rest) put(p + (lines + more) * 128, rest, 1, f);
    put(p, lines, sectors, f);
    p += (lines + more + rest) * 128;
    busy(f, 200);
  }
  if (f == 1234.5f) *sink = f;
}
extern "C" __global__ void later(char* y, float* sink, int lines, int sectors, int times, int every, int rounds) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  char* p = y + (i64)warp * rounds * 128 * lines;
  float f = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    i64 until = clock64() + (every ? mixed(warp * 32 + r) % (2 * every) : 1000);
    while (clock64() < until) {}
    put(p, lines, sectors, f);
    if (times) busy(f, times);
    put(p, lines, sectors, f);
    p += lines * 128;
  }
  if (f == 1234.5f) *sink = f;
}
"""
)


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    count, warps, lines, sectors, others, times = (
        int(row[key]) for key in (
            "multiprocessors", "warps", "lines", "sectors_a_line", "lines_between", "multiply_adds_between"
        )
    )  # fmt: skip
    y = gpu.zeros(count * warps * ROUNDS * 128 * (lines + others))
    if row["what"].startswith("stores to others"):
        more = min(others, 28)
        gpu.start("others", count, 32 * warps, y, gpu.sink, lines, sectors, more, others - more)
        return True
    every, rounds = (int(row["what"].split(", ")[2].split()[0]), 24) if "at random" in row["what"] else (0, 64)
    gpu.start("later", count, 32 * warps, y, gpu.sink, lines, sectors, times, every, rounds)
    return True
