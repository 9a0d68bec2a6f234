// 8 x 8 elements of C a thread: 16 loads for 64 multiplications. A block of 256 threads makes 128 x 128.
extern "C" __global__ void __launch_bounds__(256) sgemm(const float* a, const float* b, float* c, int n) {
  __shared__ float as[128][8], bs[8][128];
  int t = threadIdx.x, x = t % 16 * 8, y = t / 16 * 8;
  a += blockIdx.y * 128 * n, b += blockIdx.x * 128, c += blockIdx.y * 128 * n + blockIdx.x * 128;
  float sum[8][8] = {};
  for (int tile = 0; tile < n; tile += 8) {
    for (int i = t; i < 1024; i += 256) as[i / 8][i % 8] = a[i / 8 * n + tile + i % 8];
    for (int i = t; i < 1024; i += 256) bs[i / 128][i % 128] = b[(tile + i / 128) * n + i % 128];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float of_a[8], of_b[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) of_a[i] = as[y + i][k], of_b[i] = bs[k][x + i];
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += of_a[i] * of_b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) c[(y + i) * n + x + j] = sum[i][j];
}
