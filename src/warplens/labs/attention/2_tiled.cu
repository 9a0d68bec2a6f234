// Tiles of 64 keys in shared memory, for 64 queries of a block: a thread has 4 x 4 scores and 4 x 8 of the output.
#include "parts.cuh"

constexpr int PITCH = 130;  // an odd number of banks: threads in neighbouring rows do not meet
struct Tiles { bf16 q[64][PITCH], k[64][PITCH], v[64][128]; float p[64][65]; };

DEVICE void fetch(bf16 *to, int pitch, const bf16 *from) {
  for (int i = threadIdx.x; i < 64 * 64; i += 256)
    *(unsigned *)(to + i / 64 * pitch + i % 64 * 2) = *(const unsigned *)(from + i * 2);
}
DEVICE float2 floats(const bf16 *pair) {
  unsigned both = *(const unsigned *)pair;
  return {__uint_as_float(both << 16), __uint_as_float(both & 0xFFFF0000)};
}

extern "C" __global__ void __launch_bounds__(256) attention(const bf16 *q, const bf16 *k, const bf16 *v, bf16 *o,
                                                            int n, float scale) {
  extern __shared__ __align__(16) unsigned char memory[];
  Tiles &s = *(Tiles *)memory;
  int x = threadIdx.x % 16, y = threadIdx.x / 16, first = blockIdx.x * 64;
  size_t head = (size_t)blockIdx.y * n * 128;
  float high[4], sum[4] = {}, out[4][8] = {};
  for (int i = 0; i < 4; ++i) high[i] = -INFINITY;
  fetch(s.q[0], PITCH, q + head + first * 128);
  for (int tile = 0; tile < (CAUSAL ? first + 64 : n); tile += 64) {
    fetch(s.k[0], PITCH, k + head + tile * 128);
    fetch(s.v[0], 128, v + head + tile * 128);
    __syncthreads();
    float score[4][4] = {};
#pragma unroll 8
    for (int d = 0; d < 128; d += 2) {
      float2 of_q[4], of_k[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) of_q[i] = floats(&s.q[y * 4 + i][d]), of_k[i] = floats(&s.k[x + i * 16][d]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) score[i][j] += of_q[i].x * of_k[j].x + of_q[i].y * of_k[j].y;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float higher = high[i], part = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (CAUSAL && tile + x + j * 16 > first + y * 4 + i) score[i][j] = -INFINITY;
        higher = fmaxf(higher, score[i][j]);
      }
#pragma unroll
      for (int step = 8; step; step /= 2) higher = fmaxf(higher, __shfl_xor_sync(~0u, higher, step));
      float factor = ex2((high[i] - higher) * scale);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float p = ex2((score[i][j] - higher) * scale);
        part += p, s.p[y * 4 + i][x + j * 16] = p;
      }
      high[i] = higher, sum[i] = sum[i] * factor + part;
#pragma unroll
      for (int j = 0; j < 8; ++j) out[i][j] *= factor;
    }
    __syncwarp();  // a row of p is written and read by the same half of a warp
#pragma unroll 4
    for (int key = 0; key < 64; ++key)
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        float2 of_v = floats(&s.v[key][x * 2 + j * 16]);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          float p = s.p[y * 4 + i][key];
          out[i][j] += p * of_v.x, out[i][j + 1] += p * of_v.y;
        }
      }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int step = 8; step; step /= 2) sum[i] += __shfl_xor_sync(~0u, sum[i], step);
    for (int j = 0; j < 8; j += 2)
      *(unsigned *)(o + head + (first + y * 4 + i) * 128 + x * 2 + j * 16) =
          pack(out[i][j] / sum[i], out[i][j + 1] / sum[i]);
  }
}
