// wgmma and TMA: one warp fetches tiles of 128 keys for two warpgroups, 64 queries each. Products and softmax of a
// warpgroup take turns: one waits for the other.
#include "parts.cuh"

constexpr int STAGES = 2;
struct Tiles {
  bf16 q[128 * 128], k[STAGES][128 * 128], v[STAGES][128 * 128];
  u64 q_full, k_full[STAGES], v_full[STAGES], k_empty[STAGES], v_empty[STAGES];
};
DEVICE void fetch(bf16 *to, const CUtensorMap &map, int row, u64 *full) {
  mbarrier_expect(full, 128 * 128 * 2);
  for (int half = 0; half < 2; ++half) load_box(to + half * 128 * 64, map, half * 64, row, full);
}

extern "C" __global__ void __launch_bounds__(384)
    attention(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
              const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap o, int n, float scale) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Tiles &s = *(Tiles *)memory;
  int group = __shfl_sync(~0u, threadIdx.x / 128, 0), t = threadIdx.x % 128, head = blockIdx.y * n;
  int place = CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x;  // the longest blocks start first
  int tiles = CAUSAL ? place + 1 : n / 128;
  if (threadIdx.x == 0) {
    mbarrier_init(&s.q_full, 1);
    for (int i = 0; i < STAGES; ++i) {
      mbarrier_init(&s.k_full[i], 1), mbarrier_init(&s.k_empty[i], 2);
      mbarrier_init(&s.v_full[i], 1), mbarrier_init(&s.v_empty[i], 2);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  if (group == 2) {
    fewer_registers<24>();
    if (t == 0) {
      fetch(s.q, q, head + place * 128, &s.q_full);
      for (int i = 0; i < tiles; ++i) {  // from the last tile of keys, the one on the diagonal, to the first
        int row = head + (tiles - 1 - i) * 128, stage = i % STAGES, before = i / STAGES % 2 ^ 1;
        mbarrier_wait(&s.k_empty[stage], before);
        fetch(s.k[stage], k, row, &s.k_full[stage]);
        mbarrier_wait(&s.v_empty[stage], before);
        fetch(s.v[stage], v, row, &s.v_full[stage]);
      }
    }
    return;
  }
  more_registers<240>();
  float score[64], out[64];
  unsigned p[8][4];
  Rows rows;
  mbarrier_wait(&s.q_full, 0);
  for (int i = 0; i < tiles; ++i) {
    int stage = i % STAGES, phase = i / STAGES % 2;
    mbarrier_wait(&s.k_full[stage], phase);
    wgmma_fence();
    wgmma_scores(score, s.q + group * 64 * 64, s.k[stage]);
    wgmma_wait<0>();
    if (t == 0) mbarrier_arrive(&s.k_empty[stage]);
    if (CAUSAL && i == 0) mask(score, group * 64 + t / 32 * 16 + t % 32 / 4, t % 4 * 2);
    softmax(score, rows, scale);
    to_operand(p, score);
    if (i > 0) rescale(out, rows.factor);
    mbarrier_wait(&s.v_full[stage], phase);
    wgmma_fence();
    wgmma_sums(out, p, s.v[stage], i);
    wgmma_wait<0>();
    if (t == 0) mbarrier_arrive(&s.v_empty[stage]);
  }
  divide(out, rows);
  store_tile(o, head + place * 128 + group * 64, out, s.q + group * 64 * 64, 1 + group);
}
