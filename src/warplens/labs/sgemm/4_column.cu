// Eight elements of a column of C a thread: one load of B serves eight multiplications, 9 loads for 8 instead of 16.
extern "C" __global__ void __launch_bounds__(512) sgemm(const float* a, const float* b, float* c, int n) {
  __shared__ float as[64][8], bs[8][64];
  int t = threadIdx.x, x = t % 64, y = t / 64 * 8;
  a += blockIdx.y * 64 * n, b += blockIdx.x * 64, c += blockIdx.y * 64 * n + blockIdx.x * 64;
  float sum[8] = {};
  for (int tile = 0; tile < n; tile += 8) {
    as[t / 8][t % 8] = a[t / 8 * n + tile + t % 8];
    bs[t / 64][x] = b[(tile + t / 64) * n + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float of_b = bs[k][x];
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[i] += as[y + i][k] * of_b;
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) c[(y + i) * n + x] = sum[i];
}
