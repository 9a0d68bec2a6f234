// Parts that the rungs with tensor cores have in common: softmax of rows that lie in registers as mma and wgmma leave
// them. A lane has pieces of two rows, 8 apart: of each 8 columns a pair in s[4 j], s[4 j + 1] and one in s[4 j + 2],
// s[4 j + 3].
#include "../tensor_gemm/ptx.cuh"

DEVICE float ex2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
struct Rows {  // of a lane: the highest score and the sum so far, and what the last tile has made of earlier sums
  float high[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0}, factor[2];
};
template <int N> DEVICE void mask(float (&s)[N], int row, int column) {  // keys behind the query
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (column + i / 4 * 8 + i % 2 > row + i % 4 / 2 * 8) s[i] = -INFINITY;
}
template <int N> DEVICE void softmax(float (&s)[N], Rows &rows, float scale) {  // scale: to powers of two
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float high = rows.high[h], part = 0;
#pragma unroll
    for (int i = 2 * h; i < N; i += 4) high = fmaxf(high, fmaxf(s[i], s[i + 1]));
    high = fmaxf(high, __shfl_xor_sync(~0u, high, 1));
    high = fmaxf(high, __shfl_xor_sync(~0u, high, 2));
    rows.factor[h] = ex2((rows.high[h] - high) * scale);
    rows.high[h] = high;
#pragma unroll
    for (int i = 2 * h; i < N; i += 4) {
      s[i] = ex2(s[i] * scale - high * scale);
      s[i + 1] = ex2(s[i + 1] * scale - high * scale);
      part += s[i] + s[i + 1];
    }
    rows.sum[h] = rows.sum[h] * rows.factor[h] + part;
  }
}
template <int N> DEVICE void to_operand(unsigned (&p)[N / 8][4], const float (&s)[N]) {
#pragma unroll
  for (int i = 0; i < N / 2; ++i) p[i / 4][i % 4] = pack(s[2 * i], s[2 * i + 1]);
}
template <int N> DEVICE void rescale(float (&o)[N], const float (&factor)[2]) {
#pragma unroll
  for (int i = 0; i < N; ++i) o[i] *= factor[i % 4 / 2];
}
DEVICE void divide(float (&o)[64], Rows &rows) {  // by the sum of all four lanes of a row
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    rows.sum[h] += __shfl_xor_sync(~0u, rows.sum[h], 1);
    rows.sum[h] += __shfl_xor_sync(~0u, rows.sum[h], 2);
    rows.factor[h] = 1 / rows.sum[h];
  }
  rescale(o, rows.factor);
}

// A tile of 128 columns is two tiles of 64, side by side: swizzled() has rows of 128 bytes.

DEVICE bf16 *swizzled(bf16 *tile, int rows, int row, int chunk) {
  return swizzled(tile + chunk / 8 * rows * 64, row, chunk % 8);
}
DEVICE void mma_scores(float (&s)[32], const unsigned (&q)[8][4], bf16 *k, int lane) {  // of 16 queries and 64 keys
#pragma unroll
  for (int i = 0; i < 32; ++i) s[i] = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      unsigned b[4];
      ldmatrix(b, swizzled(k, 64, j * 16 + lane / 16 * 8 + lane % 8, i * 2 + lane / 8 % 2));
      mma(*(float(*)[4])(s + j * 8), q[i], b[0], b[1]);
      mma(*(float(*)[4])(s + j * 8 + 4), q[i], b[2], b[3]);
    }
}
DEVICE void mma_sums(float (&o)[64], const unsigned (&p)[4][4], bf16 *v, int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      unsigned b[4];
      ldmatrix_transposed(b, swizzled(v, 64, i * 16 + lane % 16, j * 2 + lane / 16));
      mma(*(float(*)[4])(o + j * 8), p[i], b[0], b[1]);
      mma(*(float(*)[4])(o + j * 8 + 4), p[i], b[2], b[3]);
    }
}
DEVICE void store_rows(bf16 *o, int row, const float (&f)[64], int lane) {
  o += (size_t)(row + lane / 4) * 128 + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    *(unsigned *)(o + i * 8) = pack(f[4 * i], f[4 * i + 1]);
    *(unsigned *)(o + 8 * 128 + i * 8) = pack(f[4 * i + 2], f[4 * i + 3]);
  }
}

// wgmma: 64 queries of a warpgroup, tiles of 128 keys

DEVICE u64 descriptor_n(const bf16 *tile) {  // N along the rows: the next 64 columns are 16 KB away
  return (u64)((shared_address(tile) & 0x3FFFF) >> 4) | 1024ull << 16 | 64ull << 32 | 1ull << 62;
}
DEVICE void wgmma_scores(float (&s)[64], const bf16 *q, const bf16 *k) {  // q: the warpgroup's rows of the tile
#pragma unroll
  for (int i = 0; i < 8; ++i)
    wgmma(s, descriptor(q + i / 4 * 128 * 64) + i % 4 * 2, descriptor(k + i / 4 * 128 * 64) + i % 4 * 2, i);
  wgmma_commit();
}
DEVICE void wgmma_sums(float (&o)[64], const unsigned (&p)[8][4], const bf16 *v, int accumulate) {
#pragma unroll
  for (int i = 0; i < 8; ++i) wgmma(o, p[i], descriptor_n(v) + i * 128, accumulate + i);
  wgmma_commit();
}
DEVICE void store_tile(const CUtensorMap &map, int row, const float (&o)[64], bf16 *tile, int name) {
  // 64 x 128 of a warpgroup, in place of its queries
  int t = threadIdx.x % 128;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float *f = o + i * 8;
    store_matrices(swizzled(tile, 128, t / 32 * 16 + t % 16, i * 2 + t % 32 / 16), pack(f[0], f[1]), pack(f[2], f[3]),
                   pack(f[4], f[5]), pack(f[6], f[7]));
  }
  fence_async();
  named_barrier(name, 128);
  if (t == 0) {
    for (int half = 0; half < 2; ++half) store_box(map, half * 64, row, tile + half * 128 * 64);
    wait_for_stores();
  }
}
