// wgmma: four warps multiply 64 x 64 by 64 x 128 in four instructions, which read both operands from shared memory.
#include "ptx.cuh"

constexpr int STAGES = 4;
struct Tiles { bf16 a[STAGES][128 * 64], b[STAGES][128 * 64]; };

extern "C" __global__ void __launch_bounds__(256) gemm(const bf16 *a, const bf16 *b, bf16 *c, int n) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Tiles &s = *(Tiles *)memory;
  int t = threadIdx.x, group = t / 128, tiles = n / 64;
  a += (size_t)blockIdx.y * 128 * n, b += (size_t)blockIdx.x * 128 * n;
  auto fetch = [&](int tile) {
    if (tile < tiles)
      for (int i = t; i < 1024; i += 256) {
        size_t from = (size_t)(i / 8) * n + tile * 64 + i % 8 * 8;
        copy_async(swizzled(s.a[tile % STAGES], i / 8, i % 8), a + from);
        copy_async(swizzled(s.b[tile % STAGES], i / 8, i % 8), b + from);
      }
    commit_copies();
  };
  float d[64];
  for (int tile = 0; tile < STAGES - 2; ++tile) fetch(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    wait_for_copies<STAGES - 3>();
    fence_async();  // what cp.async wrote, wgmma reads
    __syncthreads();
    wgmma_fence();
    multiply_stage(d, s.a[tile % STAGES] + group * 64 * 64, s.b[tile % STAGES], tile > 0);
    wgmma_wait<1>();  // the product of the tile before is done, in this warpgroup and, by the barrier above, one
    fetch(tile + STAGES - 2);  // tile earlier in the other
  }
  wgmma_wait<0>();
  store_rows(c, n, blockIdx.y * 128 + group * 64, blockIdx.x * 128, d);
}
