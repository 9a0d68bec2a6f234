// TMA: one thread asks for a box of A and one of B, swizzled; an mbarrier counts the bytes that have come.
#include "ptx.cuh"

constexpr int STAGES = 4;
struct Tiles {
  bf16 a[STAGES][128 * 64], b[STAGES][128 * 64];
  u64 full[STAGES];
};

extern "C" __global__ void __launch_bounds__(256) gemm(const __grid_constant__ CUtensorMap a,
                                                       const __grid_constant__ CUtensorMap b, bf16 *c, int n) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Tiles &s = *(Tiles *)memory;
  int group = threadIdx.x / 128, tiles = n / 64;
  auto fetch = [&](int tile) {
    u64 *full = &s.full[tile % STAGES];
    mbarrier_expect(full, sizeof s.a[0] + sizeof s.b[0]);
    load_box(s.a[tile % STAGES], a, tile * 64, blockIdx.y * 128, full);
    load_box(s.b[tile % STAGES], b, tile * 64, blockIdx.x * 128, full);
  };
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) mbarrier_init(&s.full[i], 1);
    fence_mbarrier_init();
    for (int tile = 0; tile < min(STAGES - 1, tiles); ++tile) fetch(tile);
  }
  __syncthreads();
  float d[64];
  for (int tile = 0; tile < tiles; ++tile) {
    mbarrier_wait(&s.full[tile % STAGES], tile / STAGES & 1);
    wgmma_fence();
    multiply_stage(d, s.a[tile % STAGES] + group * 64 * 64, s.b[tile % STAGES], tile > 0);
    wgmma_wait<1>();
    __syncthreads();  // all have read the tile before this one: its place is free
    if (threadIdx.x == 0 && tile + STAGES - 1 < tiles) fetch(tile + STAGES - 1);
  }
  wgmma_wait<0>();
  store_rows(c, n, blockIdx.y * 128 + group * 64, blockIdx.x * 128, d);
}
