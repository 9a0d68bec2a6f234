// Blocks that read on where their neighbour does: measurements/h200/seams.csv.
// Each warp reads lines of its own, one after the other, and behind each one line: what the next block's warp has read
// `delta` steps before (what = 0), lines that nobody else reads (1), or lines that L2 holds (2), `pool` words further on.
extern "C" __global__ void seam(
    const int* x, int* out, long steps, long delta, int what, long region, long pool
) {
  long warps = blockDim.x >> 5, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  long me = blockIdx.x * warps + warp, next = (blockIdx.x + 1) % gridDim.x * warps + warp;
  const int* own = x + me * region + lane;
  const int* other = what == 0 ? x + next * region + lane : what == 1 ? own + pool : x + 2 * pool + me * 997 % 8192 * 32;
  int z = 0;
  for (long k = 0; k < steps; ++k) {
    z += own[k * 32 + z];
    if (k >= delta) z += __ldcg(other + (what == 2 ? k * 31 % 64 * 32 * 128 : (k - delta) * 32) + z);
  }
  if (z) out[threadIdx.x] = z;
}
