// mma.sync for both products: a warp has 16 queries, a block 64. The scores of a tile of 64 keys stay in registers, and
// are the first operand of the second product as they are.
#include "parts.cuh"

struct Tiles { bf16 q[64 * 128], k[64 * 128], v[64 * 128]; };

DEVICE void fetch(bf16 *to, const bf16 *from) {
  for (int i = threadIdx.x; i < 1024; i += 128)
    *(uint4 *)swizzled(to, 64, i / 16, i % 16) = *(const uint4 *)(from + i * 8);
}

extern "C" __global__ void __launch_bounds__(128) attention(const bf16 *q, const bf16 *k, const bf16 *v, bf16 *o,
                                                            int n, float scale) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Tiles &s = *(Tiles *)memory;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 64;
  size_t head = (size_t)blockIdx.y * n * 128;
  unsigned of_q[8][4], p[4][4];
  float score[32], out[64] = {};
  Rows rows;
  fetch(s.q, q + head + first * 128);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) ldmatrix(of_q[i], swizzled(s.q, 64, warp * 16 + lane % 16, i * 2 + lane / 16));
  for (int tile = 0; tile < (CAUSAL ? first + 64 : n); tile += 64) {
    fetch(s.k, k + head + tile * 128);
    fetch(s.v, v + head + tile * 128);
    __syncthreads();
    mma_scores(score, of_q, s.k, lane);
    if (CAUSAL && tile == first) mask(score, warp * 16 + lane / 4, lane % 4 * 2);
    softmax(score, rows, scale);
    to_operand(p, score);
    rescale(out, rows.factor);
    mma_sums(out, p, s.v, lane);
    __syncthreads();
  }
  divide(out, rows);
  store_rows(o + head, first + warp * 16, out, lane);
}
