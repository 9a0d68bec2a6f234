// Persistent blocks: one an SM, tile after tile, in an order in which neighbours share rows and columns in L2. The next
// tile is fetched while this one is stored, by TMA, from shared memory.
#include "ptx.cuh"

constexpr int STAGES = 4, GROUP = 16;  // tiles of 128 rows whose blocks run side by side
struct Tiles {
  bf16 a[STAGES][128 * 64], b[STAGES][256 * 64], c[2][2][64 * 64];
  u64 full[STAGES], empty[STAGES];
};
struct Place { int row, column; };
DEVICE Place place(int tile, int n) {
  int rows = n / 128, columns = n / 256, band = tile / (GROUP * columns), height = min(GROUP, rows - band * GROUP);
  tile -= band * GROUP * columns;
  return {(band * GROUP + tile % height) * 128, tile / height * 256};
}

extern "C" __global__ void __launch_bounds__(384)
    gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap c, int n) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Tiles &s = *(Tiles *)memory;
  int group = __shfl_sync(~0u, threadIdx.x / 128, 0), tiles = n / 128 * (n / 256), stage = 0, phase = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) mbarrier_init(&s.full[i], 1), mbarrier_init(&s.empty[i], 2);
    fence_mbarrier_init();
  }
  __syncthreads();
  if (group == 2) {
    fewer_registers<40>();
    if (threadIdx.x == 256)
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        Place at = place(tile, n);
#pragma unroll 1
        for (int k = 0; k < n; k += 64) {
          mbarrier_wait(&s.empty[stage], phase ^ 1);
          mbarrier_expect(&s.full[stage], sizeof s.a[0] + sizeof s.b[0]);
          load_box(s.a[stage], a, k, at.row, &s.full[stage]);
          for (int i = 0; i < 256; i += 128) load_box(s.b[stage] + i * 64, b, k, at.column + i, &s.full[stage]);
          if (++stage == STAGES) stage = 0, phase ^= 1;
        }
      }
  } else {
    more_registers<232>();
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      Place at = place(tile, n);
      float d[128];
      int before = 0;
#pragma unroll 1
      for (int k = 0; k < n; k += 64) {
        mbarrier_wait(&s.full[stage], phase);
        wgmma_fence();
        multiply_stage(d, s.a[stage] + group * 64 * 64, s.b[stage], k);
        wgmma_wait<1>();
        if (k > 0 && threadIdx.x % 128 == 0) mbarrier_arrive(&s.empty[before]);
        before = stage;
        if (++stage == STAGES) stage = 0, phase ^= 1;
      }
      wgmma_wait<0>();
      if (threadIdx.x % 128 == 0) mbarrier_arrive(&s.empty[before]);
      store_tile(c, at.row + group * 64, at.column, d, s.c[group]);
    }
    if (threadIdx.x % 128 == 0) wait_for_stores();
  }
}
