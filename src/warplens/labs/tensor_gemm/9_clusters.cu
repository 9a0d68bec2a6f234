// Clusters: two blocks, one below the other, need the same part of B. Each fetches half of it for both (multicast), and
// L2 gives 32 KB a stage instead of 48. A stage is empty when the warpgroups of both blocks have read it.
#include "ptx.cuh"

constexpr int STAGES = 4, GROUP = 8;  // pairs of tiles that run side by side
struct Tiles {
  bf16 a[STAGES][128 * 64], b[STAGES][256 * 64], c[2][2][64 * 64];
  u64 full[STAGES], empty[STAGES];
};
struct Place { int row, column; };
DEVICE Place place(int pair, int n) {
  int rows = n / 256, columns = n / 256, band = pair / (GROUP * columns), height = min(GROUP, rows - band * GROUP);
  pair -= band * GROUP * columns;
  return {(band * GROUP + pair % height) * 256 + cluster_rank() * 128, pair / height * 256};
}

extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(384)
    gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap c, int n) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Tiles &s = *(Tiles *)memory;
  int group = __shfl_sync(~0u, threadIdx.x / 128, 0), half = cluster_rank() * 128, stage = 0, phase = 0;
  int pairs = n / 256 * (n / 256), first = blockIdx.x / 2, step = gridDim.x / 2;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) mbarrier_init(&s.full[i], 1), mbarrier_init(&s.empty[i], 4);
    fence_mbarrier_init();
  }
  cluster_sync();
  if (group == 2) {
    fewer_registers<40>();
    if (threadIdx.x == 256)
      for (int pair = first; pair < pairs; pair += step) {
        Place at = place(pair, n);
#pragma unroll 1
        for (int k = 0; k < n; k += 64) {
          mbarrier_wait(&s.empty[stage], phase ^ 1);
          mbarrier_expect(&s.full[stage], sizeof s.a[0] + sizeof s.b[0]);  // half of b comes from the other block
          load_box(s.a[stage], a, k, at.row, &s.full[stage]);
          load_box(s.b[stage] + half * 64, b, k, at.column + half, &s.full[stage], 3);
          if (++stage == STAGES) stage = 0, phase ^= 1;
        }
      }
  } else {
    more_registers<232>();
    int t = threadIdx.x % 128;
    for (int pair = first; pair < pairs; pair += step) {
      Place at = place(pair, n);
      float d[128];
      int before = 0;
#pragma unroll 1
      for (int k = 0; k < n; k += 64) {
        mbarrier_wait(&s.full[stage], phase);
        wgmma_fence();
        multiply_stage(d, s.a[stage] + group * 64 * 64, s.b[stage], k);
        wgmma_wait<1>();
        if (k > 0 && t < 2) mbarrier_arrive(&s.empty[before], t);
        before = stage;
        if (++stage == STAGES) stage = 0, phase ^= 1;
      }
      wgmma_wait<0>();
      if (t < 2) mbarrier_arrive(&s.empty[before], t);
      store_tile(c, at.row + group * 64, at.column, d, s.c[group]);
    }
    if (t == 0) wait_for_stores();
  }
  cluster_sync();  // none ends while the other still writes to it or arrives at its barriers
}
