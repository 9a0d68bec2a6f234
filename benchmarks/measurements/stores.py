"""What leaves a multiprocessor for L2 of each store of a warp: pieces, sectors and requests (no `bursts`)."""

from __future__ import annotations

import re

from gpu import Gpu

from warplens.calibration.trial import source_of

COLD = False
SPAN, ROUNDS, ROUND = 16384, 32, 16  # bytes that a warp stores to again and again; stores of a warp: ROUNDS * ROUND
ST = "l1tex__t_sectors_pipe_lsu_mem_global_op_st"
COUNTERS = {
    "pieces": "l1tex__m_l1tex2xbar_req_cycles_active.sum", "sectors_sent": "l1tex__m_l1tex2xbar_write_sectors.sum",
    "sectors_stored": f"{ST}.sum", "hits": f"{ST}_lookup_hit.sum", "l2_requests": "lts__t_requests_srcunit_tex.sum",
    "warps_launched": "smsp__warps_launched.sum",
}  # fmt: skip
SOURCE = source_of("stores") + """
template <int ROW, int SUMS> __device__ void summed(char* y, float* sink, int lines, int sectors, int rounds) {
  const int lane = threadIdx.x % 32, units = lines * sectors, unit = lane * units / 32, lanes = max(32 / units, 1);
  const long jump = lines * 128, span = 16384;
  char* p = y + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * span + unit / sectors * 128 + unit % sectors * 32;
  p += lane % lanes * 4 % 32;
  long at = 0;
  float f = lane;
  for (int r = 0; r < rounds; ++r, at += 16 / ROW * jump)
    UNROLLED(16) {
      stored<4>(p + (at + i / ROW * jump & span - 1) + i % ROW * 4, f);
      for (int n = 0; n < SUMS; ++n) asm volatile("fma.rn.f32 %0,%0,0f3F800001,0f3F800000;" : "+f"(f));
    }
  if (f == UNLIKELY) sink[0] = f;
}
""" + "".join(f"""
extern "C" __global__ void sums_{n}_in_{row}(long long*, char* y, float* sink, int lines, int sectors, int rounds) {{
  summed<{row}, {n}>(y, sink, lines, sectors, rounds);
}}
""" for row, n in ((2, 8), (8, 2), (8, 4), (8, 8), (8, 12), (8, 16), (8, 24)))  # fmt: skip


def kernel_of(what: str) -> str | None:
    row, sums = re.search(r"(\d+) in a row", what), re.search(r"(\d+) multiply-adds", what)
    if "bursts" in what or row is None:
        return None
    if sums:
        return f"sums_{sums[1]}_in_{row[1]}"
    if row[1] == "1":
        return "stored_bytes" if what.startswith("1 B") else "stored_words"
    return f"{'loads_in' if 'loads' in what else 'turns_of' if 'turns' in what else 'row_of'}_{row[1]}"


def launch(gpu: Gpu, row: dict[str, str]) -> bool | None:
    kernel, warps = kernel_of(row["what"]), int(row["warps"])
    if kernel is None:
        return None
    y, ticks = gpu.zeros(SPAN * (warps * gpu.multiprocessors + 4)), gpu.zeros(8 * warps * gpu.multiprocessors)
    sizes = int(row["lines"]), int(row["sectors"]), ROUNDS
    gpu.start(kernel, gpu.multiprocessors, 32 * warps, ticks, y, gpu.sink, *sizes)
    return True


def values(found: dict[str, float]) -> dict[str, float]:
    """Of each store."""
    return {name: value / (found["warps_launched"] * ROUND * ROUNDS) for name, value in found.items()}
