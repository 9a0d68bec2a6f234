"""What leaves a multiprocessor for L2 where each thread stores a row word by word and loads a word before each."""

from __future__ import annotations

from gpu import Gpu

SOURCE = """
// load: 0 none, 1 of a row of its own, 2 that all load, 3 of its own past L1, 4 a line a warp past L1
extern "C" __global__ void mixed(const float* x, float* y, int apart, int load, int later) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  float had = 0;
  for (int w = 0; w < 64; ++w) {
    float now = 0;
    if (load == 1) now = __ldca(x + i * apart + w);
    if (load == 2) now = __ldca(x + w);
    if (load == 3) now = __ldcg(x + i * apart + w);
    if (load == 4) now = __ldcg(x + (i / 32 * 64 + w) * 32 + threadIdx.x % 32);
    y[i * apart + w] = later ? had : now;
    had = now;
  }
}
"""
LOADS = ("nothing loaded", "own row", "the same words", "own row past L1", "a line past L1")


def launch(gpu: Gpu, row: dict[str, str]) -> bool | None:
    if row["what"] != "mixed":
        return None
    said, _, rest = row["parameter"].partition(", ")
    warps, apart = int(row["warps"]), 1024 if "4096" in rest else 64
    grid, block = gpu.multiprocessors * max(warps // 16, 1), 32 * min(warps, 16)
    size = 4 * grid * block * max(apart, 64)
    arrays = gpu.zeros(size), gpu.zeros(size)
    gpu.start("mixed", grid, block, *arrays, apart, LOADS.index(said), int("later" in rest))
    return True
