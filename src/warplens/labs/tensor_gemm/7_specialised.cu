// Warp specialisation: one warp does nothing but fetch, and gives its registers to two warpgroups that do nothing but
// multiply, 64 x 256 each. Two mbarriers a stage instead of the block's barrier: full, and empty again.
#include "ptx.cuh"

constexpr int STAGES = 4;
struct Tiles {
  bf16 a[STAGES][128 * 64], b[STAGES][256 * 64];
  u64 full[STAGES], empty[STAGES];
};

extern "C" __global__ void __launch_bounds__(384) gemm(const __grid_constant__ CUtensorMap a,
                                                       const __grid_constant__ CUtensorMap b, bf16 *c, int n) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Tiles &s = *(Tiles *)memory;
  int group = __shfl_sync(~0u, threadIdx.x / 128, 0), row = blockIdx.y * 128, column = blockIdx.x * 256;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) mbarrier_init(&s.full[i], 1), mbarrier_init(&s.empty[i], 2);
    fence_mbarrier_init();
  }
  __syncthreads();
  if (group == 2) {
    fewer_registers<40>();
    if (threadIdx.x == 256)
      for (int tile = 0; tile < n / 64; ++tile) {
        int stage = tile % STAGES;
        mbarrier_wait(&s.empty[stage], tile / STAGES % 2 ^ 1);
        mbarrier_expect(&s.full[stage], sizeof s.a[0] + sizeof s.b[0]);
        load_box(s.a[stage], a, tile * 64, row, &s.full[stage]);
        for (int i = 0; i < 256; i += 128) load_box(s.b[stage] + i * 64, b, tile * 64, column + i, &s.full[stage]);
      }
  } else {
    more_registers<232>();
    float d[128];
#pragma unroll 1
    for (int tile = 0; tile < n / 64; ++tile) {
      int stage = tile % STAGES;
      mbarrier_wait(&s.full[stage], tile / STAGES % 2);
      wgmma_fence();
      multiply_stage(d, s.a[stage] + group * 64 * 64, s.b[stage], tile > 0);
      wgmma_wait<1>();
      if (tile > 0 && threadIdx.x % 128 == 0) mbarrier_arrive(&s.empty[(tile - 1) % STAGES]);
    }
    wgmma_wait<0>();
    store_rows(c, n, row + group * 64, column, d);
  }
}
