"""Time of launches whose groups of 8, 16 or 32 lanes read rows piece by piece."""

from __future__ import annotations

from gpu import Gpu

READS = ("us",)
ORDERS = ("one after the other", "every other one, then the others", "every other one")
SOURCE = """
template <int AT_ONCE> __device__ void rows(const float* x, float* sink, int lanes, int pieces, int order) {
  long long group = (blockIdx.x * 256ll + threadIdx.x) / lanes;
  const float* row = x + group * pieces * lanes + threadIdx.x % lanes;
  int asked = order == 2 ? pieces / 2 : pieces;
  float s = 0;
  for (int k = 0; k < asked; k += AT_ONCE) {
    float had[AT_ONCE];
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j) {
      int n = k + j, piece = order == 0 ? n : order == 2 || n < pieces / 2 ? 2 * n : 2 * (n - pieces / 2) + 1;
      had[j] = __ldcg(row + piece * lanes);
    }
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j) s += had[j];
  }
  if (s == 1e38f) *sink = s;
}
""" + "".join(f"""
extern "C" __global__ void rows_{n}(const float* x, float* sink, int lanes, int pieces, int order) {{
  rows<{n}>(x, sink, lanes, pieces, order);
}}
""" for n in (1, 2, 4, 8))  # fmt: skip


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    lanes, order = int(row["piece_bytes"]) // 4, ORDERS.index(row["order"])
    pieces = int(row["row_bytes"]) // int(row["piece_bytes"])
    size = (int(row["mib_asked_for"]) << 20) * (2 if order == 2 else 1)
    groups = size // int(row["row_bytes"])
    args = gpu.zeros(size), gpu.sink, lanes, pieces, order
    return {"us": gpu.time(f"rows_{row['loads_in_flight']}", groups * lanes // 256, 256, *args)}
