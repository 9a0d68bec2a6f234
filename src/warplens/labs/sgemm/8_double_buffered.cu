// Nobody waits for a load: while one tile is multiplied, the next one comes from global memory into registers and goes
// into the other half of shared memory, and while one k is multiplied, the next one comes from shared memory.
// One barrier a tile instead of two. A thread goes to and fro over its columns, so that the register file is read less.
constexpr int M = 128, N = 128, K = 8;  // of a block's tile
constexpr int TM = 8, TN = 8;           // of a thread's
constexpr int LM = 8, LN = 4;           // lanes of a warp
constexpr int WARPS_N = 4;              // warps side by side

__device__ __forceinline__ float4 wide(const float* p) { return *(const float4*)p; }

extern "C" __global__ void __launch_bounds__(256, 2) sgemm(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float as[2][K][M + 4], bs[2][K][N];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int x = warp % WARPS_N * LN * TN + lane % LN * 4;  // of the first of a thread's groups of four columns
  int y = warp / WARPS_N * LM * TM + lane / LN * 4;  // and rows; the next group lies a warp's width away
  a += (blockIdx.y * M + t / 2) * n + t % 2 * 4, b += blockIdx.x * N + t / 32 * n + lane * 4;
  c += blockIdx.y * M * n + blockIdx.x * N;
  float sum[TM][TN] = {}, of_a[2][TM], of_b[2][TN];
  float4 next_a, next_b;
  auto fetch = [&](int tile) { next_a = wide(a + tile), next_b = wide(b + tile * n); };
  auto put = [&](int slot) {
    int k = t % 2 * 4, m = t / 2;
    as[slot][k][m] = next_a.x, as[slot][k + 1][m] = next_a.y;
    as[slot][k + 2][m] = next_a.z, as[slot][k + 3][m] = next_a.w;
    *(float4*)&bs[slot][warp][lane * 4] = next_b;
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
      if (k == 0 && tile + K < n) fetch(tile + K);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int e = 0; e < TN; ++e) {
          int j = i % 2 ? TN - 1 - e : e;  // to and fro: the operand of the last one is used again
          sum[i][j] += of_a[k % 2][i] * of_b[k % 2][j];
        }
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      float* to = c + (y + i / 4 * 4 * LM + i % 4) * n + x + j * LN;
      *(float4*)to = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
    }
}
