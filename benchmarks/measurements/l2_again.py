"""What is still in L2 when it is used again: what blocks read or copy twice, and words that are added to anywhere."""

from __future__ import annotations

from gpu import COMMON, Gpu

SOURCE = (
    COMMON
    + """
extern "C" __global__ void twice(const float4* x, float4* y, float* sink, int n, int stored) {
  float4 v = x[(i64)(blockIdx.x % n) * 256 + threadIdx.x];
  if (stored) y[(i64)blockIdx.x * 256 + threadIdx.x] = v;
  if (v.x == 1e38f) *sink = v.x;
}
extern "C" __global__ void adds(int* to, const int* from, const int* stream, int* sink, unsigned words, int kind) {
  unsigned me = blockIdx.x * 256 + threadIdx.x;
  int s = 0;
  for (int k = 0; k < 32; ++k) {
    int one = kind == 1 ? stream[(i64)k * 270336 + me] : 0;
    if (kind == 2) s += __ldcg(from + mixed(me * 64 + k + 77777777) % words);
    atomicAdd(to + mixed(me * 32 + k) % words, one + 1);
  }
  if (s == 12345) *sink = s;
}
"""
)
KINDS = ("adds alone", "adds beside loads", "adds and loads")


def launch(gpu: Gpu, row: dict[str, str]) -> bool:
    size = int(row["mebibytes"]) << 20
    if row["what"] in KINDS:
        arrays = gpu.zeros(size), gpu.zeros(size), gpu.zeros(4 * 32 * 1056 * 256), gpu.sink
        gpu.start("adds", 1056, 256, *arrays, size // 4, KINDS.index(row["what"]))
        return True
    n = size // 4096
    arrays = gpu.zeros(size), gpu.zeros(2 * size), gpu.sink
    gpu.start("twice", 2 * n, 256, *arrays, n, int(row["what"] == "twice stored"))
    return True
