// A warp makes 64 x 32, its lanes 8 x 4, and a thread's eight columns are two groups of four, a warp's width apart:
// the lanes of a load lie side by side, so that no two of them want different words of one bank.
constexpr int M = 128, N = 128, K = 8;  // of a block's tile
constexpr int TM = 8, TN = 8;           // of a thread's
constexpr int LM = 8, LN = 4;           // lanes of a warp
constexpr int WARPS_N = 4;              // warps side by side

__device__ __forceinline__ float4 wide(const float* p) { return *(const float4*)p; }

extern "C" __global__ void __launch_bounds__(256) sgemm(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float as[K][M + 4], bs[K][N];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int x = warp % WARPS_N * LN * TN + lane % LN * 4;  // of the first of a thread's groups of four columns
  int y = warp / WARPS_N * LM * TM + lane / LN * 4;  // and rows; the next group lies a warp's width away
  a += (blockIdx.y * M + t / 2) * n + t % 2 * 4, b += blockIdx.x * N + t / 32 * n + lane * 4;
  c += blockIdx.y * M * n + blockIdx.x * N;
  float sum[TM][TN] = {};
  for (int tile = 0; tile < n; tile += K) {
    float4 v = wide(a + tile);
    int k = t % 2 * 4;
    as[k][t / 2] = v.x, as[k + 1][t / 2] = v.y, as[k + 2][t / 2] = v.z, as[k + 3][t / 2] = v.w;
    *(float4*)&bs[warp][lane * 4] = wide(b + tile * n);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < K; ++k) {
      float of_a[TM], of_b[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4) *(float4*)&of_a[i] = wide(&as[k][y + i * LM]);
#pragma unroll
      for (int j = 0; j < TN; j += 4) *(float4*)&of_b[j] = wide(&bs[k][x + j * LN]);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += of_a[i] * of_b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      float* to = c + (y + i / 4 * 4 * LM + i % 4) * n + x + j * LN;
      *(float4*)to = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
    }
}
