// Tiles of 128 x 32 in shared memory: a block makes 128 x 128, a warp 64 x 32 of it, and its operands come from there.
#include "ptx.cuh"

extern "C" __global__ void __launch_bounds__(256) gemm(const bf16 *a, const bf16 *b, bf16 *c, int n) {
  __shared__ __align__(16) bf16 as[128][32], bs[128][32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, y = warp / 4 * 64, x = warp % 4 * 32;
  int row = lane / 4, pair = lane % 4 * 2;
  a += (size_t)blockIdx.y * 128 * n, b += (size_t)blockIdx.x * 128 * n;
  float d[4][4][4] = {};
  for (int tile = 0; tile < n; tile += 32) {
    for (int i = t; i < 512; i += 256) {
      *(uint4 *)&as[i / 4][i % 4 * 8] = *(const uint4 *)(a + (size_t)(i / 4) * n + tile + i % 4 * 8);
      *(uint4 *)&bs[i / 4][i % 4 * 8] = *(const uint4 *)(b + (size_t)(i / 4) * n + tile + i % 4 * 8);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      unsigned of_a[4][4], of_b[4][2];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) of_a[i][j] = *(unsigned *)&as[y + i * 16 + row + j % 2 * 8][k + pair + j / 2 * 8];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) of_b[i][j] = *(unsigned *)&bs[x + i * 8 + row][k + pair + j * 8];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) mma(d[i][j], of_a[i], of_b[j][0], of_b[j][1]);
    }
    __syncthreads();
  }
  store_fragments(c, n, blockIdx.y * 128 + y + row, blockIdx.x * 128 + x + pair, d);
}
