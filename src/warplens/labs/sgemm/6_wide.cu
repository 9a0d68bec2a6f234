// 16 bytes a lane, from global and from shared memory: for that A's tile is stored transposed, so that a thread's eight
// floats of a column of A lie side by side. 4 loads for 64 multiplications.
extern "C" __global__ void __launch_bounds__(256) sgemm(const float* a, const float* b, float* c, int n) {
  __shared__ float4 as[8][128 / 4 + 1], bs[8][128 / 4];
  int t = threadIdx.x, x = t % 16 * 2, y = t / 16 * 2;  // of float4
  a += blockIdx.y * 128 * n + t / 2 * n + t % 2 * 4, b += blockIdx.x * 128 + t / 32 * n + t % 32 * 4;
  c += (blockIdx.y * 128 + y * 4) * n + blockIdx.x * 128 + x * 4;
  float sum[8][8] = {};
  for (int tile = 0; tile < n; tile += 8) {
    float4 v = *(const float4*)(a + tile);
    float* to = (float*)as[t % 2 * 4] + t / 2;
    to[0] = v.x, to[132] = v.y, to[2 * 132] = v.z, to[3 * 132] = v.w;
    bs[t / 32][t % 32] = *(const float4*)(b + tile * n);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float4 of_a[2] = {as[k][y], as[k][y + 1]}, of_b[2] = {bs[k][x], bs[k][x + 1]};
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += (&of_a[0].x)[i] * (&of_b[0].x)[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; j += 4) *(float4*)(c + i * n + j) = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
}
