"""What it costs that all blocks add their counters to the same words, behind some loads of each thread."""

from __future__ import annotations

from gpu import Gpu

READS = ("us", "least_us")
SOURCE = """
extern "C" __global__ void flush(const float* x, unsigned* all, float* sink, int loads, int words) {
  __shared__ unsigned counts[4096];
  for (int i = threadIdx.x; i < 4096; i += 256) counts[i] = i;
  float s = 0;
  for (int k = 0; k < loads; ++k) s += x[(k * gridDim.x + blockIdx.x) * 256 + threadIdx.x];
  if (s == 1e38f) *sink = s;
  __syncthreads();
  for (int w = threadIdx.x; w < words; w += 256) atomicAdd(all + w, counts[w]);
}
"""


def read(gpu: Gpu, row: dict[str, str]) -> dict[str, float]:
    blocks, loads = int(row["blocks"]), int(row["loads"])
    x, counts = gpu.zeros(4 * 256 * blocks * max(loads, 1)), gpu.zeros(4 * 4096)
    args = x, counts, gpu.sink, loads, int(row["words"])
    done = gpu.times("flush", blocks, 256, *args, runs=5, stored_before=True)
    return {"us": done[2], "least_us": done[0]}
