// A warp a query: each lane has 4 of the 128 numbers, and every key and value comes from global memory. The highest
// score is not known before the last key: sums are scaled down when a higher one comes (online softmax).
#include "parts.cuh"

DEVICE void read(float (&x)[4], const bf16 *from) {
  uint2 both = *(const uint2 *)from;
  x[0] = __uint_as_float(both.x << 16), x[1] = __uint_as_float(both.x & 0xFFFF0000);
  x[2] = __uint_as_float(both.y << 16), x[3] = __uint_as_float(both.y & 0xFFFF0000);
}

extern "C" __global__ void __launch_bounds__(256) attention(const bf16 *q, const bf16 *k, const bf16 *v, bf16 *o,
                                                            int n, float scale) {
  int lane = threadIdx.x % 32, query = blockIdx.x * 8 + threadIdx.x / 32;
  size_t head = (size_t)blockIdx.y * n * 128 + lane * 4;
  float of_q[4], high = -INFINITY, sum = 0, out[4] = {};
  read(of_q, q + head + query * 128);
  for (int key = 0; key < (CAUSAL ? query + 1 : n); ++key) {
    float x[4], score = 0;
    read(x, k + head + key * 128);
#pragma unroll
    for (int i = 0; i < 4; ++i) score += of_q[i] * x[i];
#pragma unroll
    for (int i = 16; i; i /= 2) score += __shfl_xor_sync(~0u, score, i);
    float higher = fmaxf(high, score), factor = ex2((high - higher) * scale), p = ex2((score - higher) * scale);
    read(x, v + head + key * 128);
    high = higher, sum = sum * factor + p;
#pragma unroll
    for (int i = 0; i < 4; ++i) out[i] = out[i] * factor + p * x[i];
  }
  *(uint2 *)(o + head + query * 128) = {pack(out[0] / sum, out[1] / sum), pack(out[2] / sum, out[3] / sum)};
}
