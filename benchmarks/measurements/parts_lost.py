"""What L2 loses of lines that many threads have in use at the same time: each walks along a row of its own."""

from __future__ import annotations

import re

from gpu import COMMON, Gpu

from warplens.calibration.trial import source_of

SOURCE = (
    source_of("walks")
    + COMMON
    + """
extern "C" __global__ void rows_wide(const float* x, float4* y, int words) {
  i64 row = (i64)(blockIdx.x * blockDim.x + threadIdx.x) * words;
  for (int w = 0; w < words; ++w) { float v = x[row + w]; y[row + w] = make_float4(v, v, v, v); }
}
extern "C" __global__ void rows_again(const volatile float* x, float* sink, int words, int times) {
  i64 row = (i64)(blockIdx.x * blockDim.x + threadIdx.x) * words;
  float s = 0;
  for (int t = 0; t < times; ++t)
    for (int w = 0; w < words; ++w) s += x[row + w];
  if (s == 1e38f) *sink = s;
}
extern "C" __global__ void rows_and_table(const float* x, const int* table, float* sink, unsigned entries) {
  unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int w = 0; w < 64; ++w) s += __ldcg(x + (i64)me * 64 + w + __ldcg(table + mixed(me * 64 + w) % entries));
  if (s == 1e38f) *sink = s;
}
"""
)


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    what, numbers = row["what"], [int(n) for n in re.findall(r"\d+", row["parameter"])]
    warps = numbers[-1]
    grid, block = gpu.multiprocessors * max(warps // 8, 1), 32 * min(warps, 8)
    threads = grid * block
    if what == "walk stores":
        size, pitch, each = numbers[:3]
        gpu.start(f"walk_stores_{each}", grid, block, gpu.zeros(pitch * threads), size // each, pitch // each)
    elif what == "walk sums":
        words, stride = numbers[:2]
        gpu.start("walk_sums", grid, block, *(gpu.zeros(4 * stride * threads) for _ in range(2)), words, stride)
    elif what == "rows wide":
        words = numbers[0]
        gpu.start("rows_wide", grid, block, gpu.zeros(4 * words * threads), gpu.zeros(16 * words * threads), words)
    elif what == "rows again":
        gpu.start("rows_again", grid, block, gpu.zeros(4 * numbers[0] * threads), gpu.sink, *numbers[:2])
    else:
        size = numbers[0] << 20
        gpu.start("rows_and_table", grid, block, gpu.zeros(256 * threads), gpu.zeros(size), gpu.sink, size // 4)
    return True
