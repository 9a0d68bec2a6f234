// ldmatrix: one instruction fetches four 8 x 8 matrices. 16 bytes swap places within a tile (a swizzle), so that the
// eight rows of a matrix lie in different banks.
#include "ptx.cuh"

extern "C" __global__ void __launch_bounds__(256) gemm(const bf16 *a, const bf16 *b, bf16 *c, int n) {
  __shared__ __align__(128) bf16 as[128 * 64], bs[128 * 64];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, y = warp / 4 * 64, x = warp % 4 * 32;
  a += (size_t)blockIdx.y * 128 * n, b += (size_t)blockIdx.x * 128 * n;
  float d[4][4][4] = {};
  for (int tile = 0; tile < n; tile += 64) {
    for (int i = t; i < 1024; i += 256) {
      *(uint4 *)swizzled(as, i / 8, i % 8) = *(const uint4 *)(a + (size_t)(i / 8) * n + tile + i % 8 * 8);
      *(uint4 *)swizzled(bs, i / 8, i % 8) = *(const uint4 *)(b + (size_t)(i / 8) * n + tile + i % 8 * 8);
    }
    __syncthreads();
    multiply_tiles(d, as + y * 64, bs + x * 64, lane);
    __syncthreads();
  }
  store_fragments(c, n, blockIdx.y * 128 + y + lane / 4, blockIdx.x * 128 + x + lane % 4 * 2, d);
}
