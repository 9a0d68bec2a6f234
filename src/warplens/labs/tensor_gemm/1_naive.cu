// mma.sync, its operands from global memory: a warp makes 16 x 8 of C, a block 32 x 32. Each lane loads its own pairs.
#include "ptx.cuh"

extern "C" __global__ void gemm(const bf16 *a, const bf16 *b, bf16 *c, int n) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row = blockIdx.y * 32 + warp / 4 * 16 + lane / 4, column = blockIdx.x * 32 + warp % 4 * 8, pair = lane % 4 * 2;
  const unsigned *upper = (const unsigned *)(a + (size_t)row * n + pair), *lower = upper + 4 * n;
  const unsigned *right = (const unsigned *)(b + (size_t)(column + lane / 4) * n + pair);
  float d[4] = {};
  for (int k = 0; k < n / 2; k += 8) {
    unsigned of_a[4] = {upper[k], lower[k], upper[k + 4], lower[k + 4]};
    mma(d, of_a, right[k], right[k + 4]);
  }
  *(unsigned *)(c + (size_t)row * n + column + pair) = pack(d[0], d[1]);
  *(unsigned *)(c + (size_t)(row + 8) * n + column + pair) = pack(d[2], d[3]);
}
