// 8 x 16 elements a thread: 6 loads of 16 bytes from shared memory for 128 multiplications instead of 4 for 64.
// That takes 240 registers, so eight warps an SM are all there are, and enough: each has 128 independent
// multiplications to do.
constexpr int M = 128, N = 256, K = 16;  // of a block's tile
constexpr int TM = 8, TN = 16;            // of a thread's
constexpr int LM = 4, LN = 8;            // lanes of a warp
constexpr int WARPS_N = 2;              // warps side by side
constexpr int THREADS = M * N / (TM * TN);
constexpr int AT_ONCE_A = THREADS / (K / 4), AT_ONCE_B = THREADS / (N / 4);  // rows that the block loads at once

__device__ __forceinline__ float4 wide(const float* p) { return *(const float4*)p; }

__device__ __forceinline__ void copy_async(float* to, const float* from) {
  unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) sgemm(const float* __restrict__ a, const float* __restrict__ b,
                                                              float* __restrict__ c, int n) {
  extern __shared__ __align__(16) float shared[];  // 48.5 KB: more than the compiler takes as a fixed size
  auto as = reinterpret_cast<float(*)[K][M + 4]>(shared);
  auto bs = reinterpret_cast<float(*)[K][N]>(shared + 2 * K * (M + 4));
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int x = warp % WARPS_N * LN * TN + lane % LN * 4;  // of the first of a thread's groups of four columns
  int y = warp / WARPS_N * LM * TM + lane / LN * 4;  // and rows; the next group lies a warp's width away
  int ka = t % (K / 4) * 4, ma = t / (K / 4), nb = t % (N / 4) * 4, kb = t / (N / 4);
  a += (size_t)(blockIdx.y * M + ma) * n + ka, b += blockIdx.x * N + (size_t)kb * n + nb;
  c += (size_t)blockIdx.y * M * n + blockIdx.x * N;
  size_t down_a = (size_t)AT_ONCE_A * n, down_b = (size_t)AT_ONCE_B * n;
  float sum[TM][TN] = {}, of_a[2][TM], of_b[2][TN];
  float4 next_a[M / AT_ONCE_A];
  auto fetch = [&](int slot) {  // and move on to the next tile
#pragma unroll
    for (int i = 0; i < M / AT_ONCE_A; ++i) next_a[i] = wide(a + i * down_a);
#pragma unroll
    for (int i = 0; i < K / AT_ONCE_B; ++i) copy_async(&bs[slot][kb + i * AT_ONCE_B][nb], b + i * down_b);
    asm volatile("cp.async.commit_group;");
    a += K, b += (size_t)K * n;
  };
  auto put = [&](int slot) {
#pragma unroll
    for (int i = 0; i < M / AT_ONCE_A; ++i) {
      int m = ma + i * AT_ONCE_A;
      as[slot][ka][m] = next_a[i].x, as[slot][ka + 1][m] = next_a[i].y;
      as[slot][ka + 2][m] = next_a[i].z, as[slot][ka + 3][m] = next_a[i].w;
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  };
  auto fragments = [&](int of, int slot, int k) {
#pragma unroll
    for (int i = 0; i < TM; i += 4) *(float4*)&of_a[of][i] = wide(&as[slot][k][y + i * LM]);
#pragma unroll
    for (int j = 0; j < TN; j += 4) *(float4*)&of_b[of][j] = wide(&bs[slot][k][x + j * LN]);
  };
  fetch(0);
  put(0);
  __syncthreads();
  int slot = 0;
  fragments(0, 0, 0);
#pragma unroll 1
  for (int tile = 0; tile < n; tile += K, slot ^= 1) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (k == K - 1) {
        if (tile + K < n) put(slot ^ 1);
        __syncthreads();
      }
      fragments((k + 1) % 2, k == K - 1 ? slot ^ 1 : slot, (k + 1) % K);
      if (k == 0 && tile + K < n) fetch(slot ^ 1);
#pragma unroll
      for (int j = 0; j < TN; ++j)
#pragma unroll
        for (int e = 0; e < TM; ++e) {
          int i = j % 2 ? TM - 1 - e : e;  // to and fro: the operand of the last one is used again
          sum[i][j] += of_a[k % 2][i] * of_b[k % 2][j];
        }
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      float* to = c + (size_t)(y + i / 4 * 4 * LM + i % 4) * n + x + j * LN;
      *(float4*)to = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
    }
}
