// Small kernels of kinds seen in practice, for the third list that predicted times are validated on.
#include <cuda_fp16.h>
#include <mma.h>
#include <cuda_pipeline.h>
using uint = unsigned;

// Inclusive scan of each block of 1,024 numbers: warps by shuffles, then the sums of the warps.
extern "C" __global__ void scan_warps(const int* x, int* y, int n) {
  __shared__ int sums[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = i < n ? x[i] : 0;
  for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, v, d); if (lane >= d) v += u; }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, s, d); if (lane >= d) s += u; }
    sums[lane] = s;
  }
  __syncthreads();
  if (i < n) y[i] = v + (warp ? sums[warp - 1] : 0);
}
// The same in shared memory, doubling distances (Hillis and Steele).
extern "C" __global__ void scan_doubling(const int* x, int* y, int n) {
  __shared__ int s[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  s[t] = i < n ? x[i] : 0;
  for (int d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
  }
  if (i < n) y[i] = s[t];
}
// Histogram of 256 bins: in global memory, in shared memory, in shared memory with one copy a warp.
extern "C" __global__ void bins_global(const unsigned char* x, uint* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&bins[x[i]], 1u);
}
extern "C" __global__ void bins_shared(const unsigned char* x, uint* bins, int n) {
  __shared__ uint own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&own[x[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
extern "C" __global__ void bins_warps(const unsigned char* x, uint* bins, int n) {
  __shared__ uint own[8][256];
  for (int k = threadIdx.x; k < 8 * 256; k += 256) own[0][k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&own[threadIdx.x / 32][x[i]], 1u);
  __syncthreads();
  uint sum = 0;
  for (int k = 0; k < 8; ++k) sum += own[k][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}
// Convolution of a row with 17 weights in constant memory: from global memory, and from a tile in shared memory.
__constant__ float weights[17];
extern "C" __global__ void conv_direct(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 17; ++k) { int j = i + k - 8; if (j >= 0 && j < n) sum += x[j] * weights[k]; }
  if (i < n) y[i] = sum;
}
extern "C" __global__ void conv_tile(const float* x, float* y, int n) {
  __shared__ float s[256 + 16];
  int i = blockIdx.x * 256 + threadIdx.x;
  for (int t = threadIdx.x; t < 272; t += 256) { int j = blockIdx.x * 256 + t - 8; s[t] = j >= 0 && j < n ? x[j] : 0; }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 17; ++k) sum += s[threadIdx.x + k] * weights[k];
  if (i < n) y[i] = sum;
}
// Transpose of a square matrix: plain, through a tile, through a tile with a column to spare.
extern "C" __global__ void turn_plain(const float* x, float* y, int w) {
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) y[(size_t)c * w + r + j] = x[(size_t)(r + j) * w + c];
}
template <int P> __device__ void turned(const float* x, float* y, int w) {
  __shared__ float s[32][32 + P];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) s[threadIdx.y + j][threadIdx.x] = x[(size_t)(r + j) * w + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) y[(size_t)(r + j) * w + c] = s[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void turn_tile(const float* x, float* y, int w) { turned<0>(x, y, w); }
extern "C" __global__ void turn_padded(const float* x, float* y, int w) { turned<1>(x, y, w); }
// Layer norm of rows: one warp a row, one block a row.
extern "C" __global__ void norm_warp(const float* x, float* y, const float* g, int rows, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* r = x + (size_t)row * n;
  float s = 0, q = 0;
  for (int i = lane; i < n; i += 32) { float v = r[i]; s += v; q += v * v; }
  for (int d = 16; d; d /= 2) { s += __shfl_xor_sync(~0u, s, d); q += __shfl_xor_sync(~0u, q, d); }
  float mean = s / n, scale = rsqrtf(q / n - mean * mean + 1e-5f);
  for (int i = lane; i < n; i += 32) y[(size_t)row * n + i] = (r[i] - mean) * scale * g[i];
}
extern "C" __global__ void norm_block(const float* x, float* y, const float* g, int n) {
  __shared__ float sums[8], squares[8];
  const float4* r = (const float4*)(x + (size_t)blockIdx.x * n);
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < n / 4; i += 256) {
    float4 v = r[i];
    s += v.x + v.y + v.z + v.w;
    q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  for (int d = 16; d; d /= 2) { s += __shfl_xor_sync(~0u, s, d); q += __shfl_xor_sync(~0u, q, d); }
  if (threadIdx.x % 32 == 0) { sums[threadIdx.x / 32] = s; squares[threadIdx.x / 32] = q; }
  __syncthreads();
  s = q = 0;
  for (int k = 0; k < 8; ++k) { s += sums[k]; q += squares[k]; }
  float mean = s / n, scale = rsqrtf(q / n - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < n / 4; i += 256) {
    float4 v = r[i], w = ((const float4*)g)[i];
    v.x = (v.x - mean) * scale * w.x; v.y = (v.y - mean) * scale * w.y;
    v.z = (v.z - mean) * scale * w.z; v.w = (v.w - mean) * scale * w.w;
    ((float4*)(y + (size_t)blockIdx.x * n))[i] = v;
  }
}
// Scores of attention: queries times keys of 64 numbers, one thread a pair; keys through shared memory.
extern "C" __global__ void scores(const float* q, const float* k, float* s, int n) {
  __shared__ float keys[32][65];
  int col = blockIdx.x * 32, row = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 32; j += 8)
    for (int d = threadIdx.x; d < 64; d += 32) keys[j][d] = k[(size_t)(col + j) * 64 + d];
  __syncthreads();
  float sum = 0;
#pragma unroll 16
  for (int d = 0; d < 64; ++d) sum += q[(size_t)row * 64 + d] * keys[threadIdx.x][d];
  s[(size_t)row * n + col + threadIdx.x] = sum * 0.125f;
}
// One step of a radix sort: how many of each of 16 digits a block has; and ranks in a block, by votes.
extern "C" __global__ void digits_count(const uint* x, uint* counts, int n, int shift) {
  __shared__ uint own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&own[x[i] >> shift & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}
extern "C" __global__ void digits_rank(const uint* x, uint* y, int n, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint d = i < n ? x[i] >> shift & 15 : 0, before = (1u << threadIdx.x % 32) - 1, rank = 0;
  for (uint k = 0; k < 16; ++k) { uint m = __ballot_sync(~0u, d == k); if (d == k) rank = __popc(m & before); }
  if (i < n) y[i] = rank;
}
// Odd-even transposition, `steps` steps in shared memory.
extern "C" __global__ void transposition(int* x, int steps) {
  __shared__ int s[512];
  int t = threadIdx.x, base = blockIdx.x * 512;
  s[t] = x[base + t]; s[t + 256] = x[base + t + 256];
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    int i = 2 * t + k % 2;
    if (i + 1 < 512 && s[i] > s[i + 1]) { int v = s[i]; s[i] = s[i + 1]; s[i + 1] = v; }
  }
  __syncthreads();
  x[base + t] = s[t]; x[base + t + 256] = s[t + 256];
}
// Rows by an index, and their opposite.
extern "C" __global__ void take_rows(const float* x, const int* at, float* y, int width) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  for (int i = threadIdx.x; i < width; i += 32) y[(size_t)row * width + i] = x[(size_t)at[row] * width + i];
}
extern "C" __global__ void take(const float* x, const int* at, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[at[i]];
}
extern "C" __global__ void place(const float* x, const int* at, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[at[i]] = x[i];
}
extern "C" __global__ void place_add(const float* x, const int* at, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&y[at[i]], x[i]);
}
// In double: a polynomial, and a matrix times a vector.
extern "C" __global__ void horner(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i], p = 1;
#pragma unroll
  for (int k = 0; k < 32; ++k) p = p * v + (k + 0.5);
  y[i] = p;
}
extern "C" __global__ void matvec(const double* a, const double* x, double* y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  double sum = 0;
  for (int i = lane; i < n; i += 32) sum += a[(size_t)row * n + i] * x[i];
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}
// Pairs of halves; products of four bytes.
extern "C" __global__ void gelu_half(const __half2* x, __half2* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    __half2 v = x[i], c = __hmul2(__hmul2(v, v), v);
    __half2 u = __hmul2(__hfma2(c, __float2half2_rn(0.0447f), v), __float2half2_rn(1.5957f));
    float2 f = __half22float2(u);
    y[i] = __hmul2(v, __floats2half2_rn(1 / (1 + __expf(-f.x)), 1 / (1 + __expf(-f.y))));
  }
}
extern "C" __global__ void bytes_dot(const int4* a, const int4* b, int* y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
  for (int i = lane; i < n; i += 32) {
    int4 u = a[(size_t)row * n + i], v = b[i];
    sum = __dp4a(u.x, v.x, sum); sum = __dp4a(u.y, v.y, sum); sum = __dp4a(u.z, v.z, sum); sum = __dp4a(u.w, v.w, sum);
  }
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}
// Tiles that come in while others are worked on: `rounds` tiles of 4 KB a block, two or four on their way.
template <int D> __device__ void streamed(const float4* x, float* y, int rounds) {
  __shared__ float4 s[D][256];
  const float4* p = x + (size_t)blockIdx.x * rounds * 256 + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < D - 1; ++r) { __pipeline_memcpy_async(&s[r][threadIdx.x], p + r * 256, 16); __pipeline_commit(); }
  for (int r = 0; r < rounds; ++r) {
    if (r + D - 1 < rounds) __pipeline_memcpy_async(&s[(r + D - 1) % D][threadIdx.x], p + (r + D - 1) * 256, 16);
    __pipeline_commit();
    __pipeline_wait_prior(D - 1);
    __syncthreads();
    float4 v = s[r % D][threadIdx.x ^ 1];
    sum += v.x * v.y + v.z * v.w;
    __syncthreads();
  }
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}
extern "C" __global__ void stream_2(const float4* x, float* y, int rounds) { streamed<2>(x, y, rounds); }
extern "C" __global__ void stream_4(const float4* x, float* y, int rounds) { streamed<4>(x, y, rounds); }
// Product of half matrices with tensor cores, one warp a tile of 16 x 16: from global memory, from shared memory.
extern "C" __global__ void tensor_plain(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  int row = (blockIdx.y * 4 + threadIdx.x / 32) * 16, col = blockIdx.x * 16;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> x;
    fragment<matrix_b, 16, 16, 16, __half, row_major> y;
    load_matrix_sync(x, a + (size_t)row * n + k, n);
    load_matrix_sync(y, b + (size_t)k * n + col, n);
    mma_sync(sum, x, y, sum);
  }
  store_matrix_sync(c + (size_t)row * n + col, sum, n, mem_row_major);
}
extern "C" __global__ void tensor_tile(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) __half s[64][32], t[32][64];
  int warp = threadIdx.x / 32, row = blockIdx.y * 64, col = blockIdx.x * 64;
  fragment<accumulator, 16, 16, 16, float> sum[4];
  for (int i = 0; i < 4; ++i) fill_fragment(sum[i], 0.0f);
  for (int k = 0; k < n; k += 32) {
    for (int i = threadIdx.x; i < 256; i += 128) {
      *(uint4*)&s[i / 4][i % 4 * 8] = *(const uint4*)&a[(size_t)(row + i / 4) * n + k + i % 4 * 8];
      *(uint4*)&t[i / 8][i % 8 * 8] = *(const uint4*)&b[(size_t)(k + i / 8) * n + col + i % 8 * 8];
    }
    __syncthreads();
    for (int h = 0; h < 32; h += 16) {
      fragment<matrix_a, 16, 16, 16, __half, row_major> x;
      load_matrix_sync(x, &s[warp * 16][h], 32);
      for (int i = 0; i < 4; ++i) {
        fragment<matrix_b, 16, 16, 16, __half, row_major> y;
        load_matrix_sync(y, &t[h][i * 16], 64);
        mma_sync(sum[i], x, y, sum[i]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    store_matrix_sync(c + (size_t)(row + warp * 16) * n + col + i * 16, sum[i], n, mem_row_major);
}
// A table of 1,024 words: in constant memory, in shared memory, in global memory.
__constant__ uint substitutes[1024];
extern "C" __global__ void table_constant(const uint* x, uint* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint v = x[i];
  for (int k = 0; k < n; ++k) v = substitutes[v & 1023] + v * 5 + 1;
  y[i] = v;
}
extern "C" __global__ void table_shared(const uint* x, uint* y, const uint* table, int n) {
  __shared__ uint s[1024];
  for (int k = threadIdx.x; k < 1024; k += 256) s[k] = table[k];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint v = x[i];
  for (int k = 0; k < n; ++k) v = s[v & 1023] + v * 5 + 1;
  y[i] = v;
}
extern "C" __global__ void table_global(const uint* x, uint* y, const uint* table, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint v = x[i];
  for (int k = 0; k < n; ++k) v = __ldg(table + (v & 1023)) + v * 5 + 1;
  y[i] = v;
}
// Complex numbers, in pairs and in two arrays.
extern "C" __global__ void complex_pairs(float2* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float2 v = z[i]; z[i] = make_float2(v.x * v.x - v.y * v.y, 2 * v.x * v.y); }
}
extern "C" __global__ void complex_fields(float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float x = z[2 * i], y = z[2 * i + 1]; z[2 * i] = x * x - y * y; z[2 * i + 1] = 2 * x * y; }
}
// Mandelbrot: warps whose lanes end at different times.
extern "C" __global__ void mandel(int* y, int w, int most) {
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y, k = 0;
  float a = 3.0f * c / w - 2.0f, b = 2.0f * r / w - 1.0f, x = 0, z = 0;
  while (k < most && x * x + z * z < 4) { float u = x * x - z * z + a; z = 2 * x * z + b; x = u; ++k; }
  y[r * w + c] = k;
}
// Distances of points to 16 centres in registers of the block (k-means), the nearest one.
extern "C" __global__ void nearest(const float4* p, const float4* centres, int* y, int n) {
  __shared__ float4 s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = centres[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
  if (i >= n) return;
  float4 v = p[i];
  float least = 3e38f;
  for (int k = 0; k < 16; ++k) {
    float dx = v.x - s[k].x, dy = v.y - s[k].y, dz = v.z - s[k].z, d = dx * dx + dy * dy + dz * dz;
    if (d < least) { least = d; best = k; }
  }
  y[i] = best;
}
// Sums of rows and of columns of a matrix.
extern "C" __global__ void sum_columns(const float* x, float* y, int w, int h) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < h; ++r) sum += x[(size_t)r * w + c];
  y[c] = sum;
}
extern "C" __global__ void sum_lines(const float* x, float* y, int w, int h) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c = 0; c < w; ++c) sum += x[(size_t)r * w + c];
  if (r < h) y[r] = sum;
}
