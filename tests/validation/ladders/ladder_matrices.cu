// Ladders of matrices: one task, climbed in several ways (launches: launches.toml).
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__device__ int all_lanes(int v) {
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  return v;
}
__device__ float all_lanes(float v) {
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  return v;
}

// Sums of the columns of a matrix of h rows and w columns.  A warp a column: its lanes read down it.
extern "C" __global__ void columns_warp(const int* x, int* sums, int w, int h) {
  int j = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31, s = 0;
  for (int i = lane; i < h; i += 32) s += x[i * w + j];
  s = all_lanes(s);
  if (lane == 0) sums[j] = s;
}
// A thread a column: lanes read side by side, but there are few of them.
extern "C" __global__ void columns_thread(const int* x, int* sums, int w, int h) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  for (int i = 0; i < h; ++i) s += x[i * w + j];
  sums[j] = s;
}
// The matrix in pieces of 64 rows, whose sums atomics bring together.
extern "C" __global__ void columns_pieces(const int* x, int* sums, int w, int h) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * 64, s = 0;
  for (int i = from; i < from + 64 && i < h; ++i) s += x[i * w + j];
  atomicAdd(&sums[j], s);
}
// Eight warps take turns at the rows and meet in shared memory: one atomic a column and block.
extern "C" __global__ void columns_tile(const int* x, int* sums, int w, int h) {
  __shared__ int part[8][32];
  int j = blockIdx.x * 32 + threadIdx.x, from = blockIdx.y * 256, s = 0;
#pragma unroll 4
  for (int i = from + threadIdx.y; i < from + 256; i += 8) s += x[i * w + j];
  part[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.y) return;
  for (int k = 1; k < 8; ++k) s += part[k][threadIdx.x];
  atomicAdd(&sums[j], s);
}
// The same with four columns a thread.
extern "C" __global__ void columns_wide(const int4* x, int* sums, int w, int h) {
  __shared__ int4 part[8][32];
  int j = blockIdx.x * 32 + threadIdx.x, from = blockIdx.y * 256;
  int4 s = make_int4(0, 0, 0, 0);
#pragma unroll 8
  for (int i = from + threadIdx.y; i < from + 256; i += 8) {
    int4 v = x[i * (w / 4) + j];
    s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w;
  }
  part[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  const int* flat = (const int*)part;
  int t = threadIdx.y * 32 + threadIdx.x, total = 0;
  if (t >= 128) return;
  for (int k = 0; k < 8; ++k) total += flat[128 * k + t];
  atomicAdd(&sums[blockIdx.x * 128 + t], total);
}

// Many products of 16 x 16 matrices.  A block each, a thread an element.
extern "C" __global__ void batch_elements(const float* a, const float* b, float* c, int count) {
  int i = threadIdx.y, j = threadIdx.x;
  const float *p = a + 256 * blockIdx.x, *q = b + 256 * blockIdx.x;
  float s = 0;
  for (int k = 0; k < 16; ++k) s += p[16 * i + k] * q[16 * k + j];
  c[256 * blockIdx.x + 16 * i + j] = s;
}
// Both matrices in shared memory.
extern "C" __global__ void batch_shared(const float* a, const float* b, float* c, int count) {
  __shared__ float p[16][16], q[16][16];
  int i = threadIdx.y, j = threadIdx.x, at = 256 * blockIdx.x + 16 * i + j;
  p[i][j] = a[at];
  q[i][j] = b[at];
  __syncthreads();
  float s = 0;
  for (int k = 0; k < 16; ++k) s += p[i][k] * q[k][j];
  c[at] = s;
}
// Sixteen lanes each, a lane a row: 16 sums and a row in registers.
extern "C" __global__ void batch_rows(const float4* a, const float4* b, float4* c, int count) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, one = t / 16;
  if (one >= count) return;
  const float4 *p = a + 64 * one + 4 * (t & 15), *q = b + 64 * one;
  float row[16], s[16] = {};
  for (int k = 0; k < 4; ++k) {
    float4 v = p[k];
    row[4 * k] = v.x; row[4 * k + 1] = v.y; row[4 * k + 2] = v.z; row[4 * k + 3] = v.w;
  }
#pragma unroll
  for (int k = 0; k < 16; ++k)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float4 v = q[4 * k + j];
      s[4 * j] += row[k] * v.x; s[4 * j + 1] += row[k] * v.y;
      s[4 * j + 2] += row[k] * v.z; s[4 * j + 3] += row[k] * v.w;
    }
  for (int j = 0; j < 4; ++j)
    c[64 * one + 4 * (t & 15) + j] = make_float4(s[4 * j], s[4 * j + 1], s[4 * j + 2], s[4 * j + 3]);
}
// A warp each, which stages both by wide loads; a lane makes two rows of four elements.
extern "C" __global__ void batch_strips(const float4* a, const float4* b, float4* c, int count) {
  __shared__ float4 p[4][16][5], q[4][16][4];
  int warp = threadIdx.x / 32, lane = threadIdx.x & 31, one = blockIdx.x * 4 + warp;
  if (one >= count) return;
#pragma unroll
  for (int k = lane; k < 64; k += 32) {
    p[warp][k / 4][k & 3] = a[64 * one + k];
    q[warp][k / 4][k & 3] = b[64 * one + k];
  }
  __syncwarp();
  int i = lane / 4 * 2, j = lane & 3;
  float4 s[2] = {};
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    float4 v = q[warp][k][j];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float f = ((const float*)p[warp][i + r])[k];
      s[r].x += f * v.x; s[r].y += f * v.y; s[r].z += f * v.z; s[r].w += f * v.w;
    }
  }
  for (int r = 0; r < 2; ++r) c[64 * one + 4 * (i + r) + j] = s[r];
}

// A matrix of halves times a vector of floats.  A thread a row.
extern "C" __global__ void weights_thread(const __half* a, const float* x, float* y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int k = 0; k < n; ++k) s += __half2float(a[(size_t)r * n + k]) * x[k];
  y[r] = s;
}
// A warp a row, two elements a lane.
extern "C" __global__ void weights_warp(const __half2* a, const float2* x, float* y, int rows, int n) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  float s = 0;
  for (int k = lane; k < n / 2; k += 32) {
    float2 v = __half22float2(a[(size_t)r * (n / 2) + k]), u = x[k];
    s += v.x * u.x + v.y * u.y;
  }
  s = all_lanes(s);
  if (lane == 0) y[r] = s;
}
__device__ float eight(uint4 v, float4 p, float4 q) {
  float2 a = __half22float2(*(__half2*)&v.x), b = __half22float2(*(__half2*)&v.y);
  float2 c = __half22float2(*(__half2*)&v.z), d = __half22float2(*(__half2*)&v.w);
  return a.x * p.x + a.y * p.y + b.x * p.z + b.y * p.w + c.x * q.x + c.y * q.y + d.x * q.z + d.y * q.w;
}
// A warp a row, eight elements a lane.
extern "C" __global__ void weights_wide(const uint4* a, const float4* x, float* y, int rows, int n) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  float s = 0;
#pragma unroll 2
  for (int k = lane; k < n / 8; k += 32) s += eight(a[(size_t)r * (n / 8) + k], x[2 * k], x[2 * k + 1]);
  s = all_lanes(s);
  if (lane == 0) y[r] = s;
}
// Four rows a warp, which share what they read of the vector; the vector stands in shared memory.
extern "C" __global__ void weights_shared(const uint4* a, const float4* x, float* y, int rows, int n) {
  extern __shared__ float4 own[];
  for (int k = threadIdx.x; k < n / 4; k += blockDim.x) own[k] = x[k];
  __syncthreads();
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 4, lane = threadIdx.x & 31;
  float s[4] = {};
  for (int k = lane; k < n / 8; k += 32) {
    float4 p = own[2 * k], q = own[2 * k + 1];
#pragma unroll
    for (int i = 0; i < 4; ++i) s[i] += eight(a[(size_t)(r + i) * (n / 8) + k], p, q);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) s[i] = all_lanes(s[i]);
  if (lane == 0)
    for (int i = 0; i < 4; ++i) y[r + i] = s[i];
}

// Product of matrices of halves on tensor cores.  A warp a tile of 16 x 16, straight from memory.
using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

extern "C" __global__ void halves_warp(const __half* a, const __half* b, float* c, int n) {
  int i = blockIdx.y * 32 + threadIdx.x / 64 * 16, j = blockIdx.x * 32 + (threadIdx.x / 32 & 1) * 16;
  Left p;
  Right q;
  Sum s;
  wmma::fill_fragment(s, 0);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(p, a + i * n + k, n);
    wmma::load_matrix_sync(q, b + k * n + j, n);
    wmma::mma_sync(s, p, q, s);
  }
  wmma::store_matrix_sync(c + i * n + j, s, n, wmma::mem_row_major);
}
// A block a tile of 32 H x 32 W from shared memory, 16 H x 16 W a warp (four warps).
template <int H, int W>
__device__ void halves_tile(const __half* a, const __half* b, float* c, int n) {
  constexpr int TALL = 32 * H, BROAD = 32 * W, STEP = 32;
  __shared__ __align__(16) __half p[TALL][STEP + 8], q[STEP][BROAD + 8];
  int warp = threadIdx.x / 32, row = blockIdx.y * TALL, column = blockIdx.x * BROAD;
  int i = warp / 2 * 16 * H, j = (warp & 1) * 16 * W;
  Sum s[H][W];
  for (auto& line : s)
    for (auto& one : line) wmma::fill_fragment(one, 0);
  for (int k = 0; k < n; k += STEP) {
    for (int t = threadIdx.x; t < TALL * STEP / 8; t += 128)
      *(uint4*)&p[t / 4][t % 4 * 8] = *(const uint4*)&a[(row + t / 4) * n + k + t % 4 * 8];
    for (int t = threadIdx.x; t < STEP * BROAD / 8; t += 128)
      *(uint4*)&q[t / (BROAD / 8)][t % (BROAD / 8) * 8] =
          *(const uint4*)&b[(k + t / (BROAD / 8)) * n + column + t % (BROAD / 8) * 8];
    __syncthreads();
#pragma unroll
    for (int m = 0; m < STEP; m += 16) {
      Left left[H];
      Right right[W];
      for (int h = 0; h < H; ++h) wmma::load_matrix_sync(left[h], &p[i + 16 * h][m], STEP + 8);
      for (int w = 0; w < W; ++w) wmma::load_matrix_sync(right[w], &q[m][j + 16 * w], BROAD + 8);
      for (int h = 0; h < H; ++h)
        for (int w = 0; w < W; ++w) wmma::mma_sync(s[h][w], left[h], right[w], s[h][w]);
    }
    __syncthreads();
  }
  for (int h = 0; h < H; ++h)
    for (int w = 0; w < W; ++w)
      wmma::store_matrix_sync(c + (row + i + 16 * h) * n + column + j + 16 * w, s[h][w], n, wmma::mem_row_major);
}
extern "C" __global__ void halves_small(const __half* a, const __half* b, float* c, int n) {
  halves_tile<1, 1>(a, b, c, n);
}
extern "C" __global__ void halves_square(const __half* a, const __half* b, float* c, int n) {
  halves_tile<2, 2>(a, b, c, n);
}
extern "C" __global__ void halves_broad(const __half* a, const __half* b, float* c, int n) {
  halves_tile<4, 2>(a, b, c, n);
}

// Shortest ways with one stop: the least a(i, k) + b(k, j).  A thread an element.
extern "C" __global__ void ways_plain(const int* a, const int* b, int* c, int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x, least = 1 << 30;
  for (int k = 0; k < n; ++k) least = min(least, a[i * n + k] + b[k * n + j]);
  c[i * n + j] = least;
}
// Tiles of 32 x 32 in shared memory, four elements of a column a thread.
extern "C" __global__ void ways_tile(const int* a, const int* b, int* c, int n) {
  __shared__ int p[32][32], q[32][32];
  int i = blockIdx.y * 32, j = blockIdx.x * 32 + threadIdx.x, least[4] = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
  for (int k = 0; k < n; k += 32) {
    for (int r = threadIdx.y; r < 32; r += 8) {
      p[r][threadIdx.x] = a[(i + r) * n + k + threadIdx.x];
      q[r][threadIdx.x] = b[(k + r) * n + j];
    }
    __syncthreads();
#pragma unroll 8
    for (int m = 0; m < 32; ++m)
#pragma unroll
      for (int r = 0; r < 4; ++r) least[r] = min(least[r], p[threadIdx.y + 8 * r][m] + q[m][threadIdx.x]);
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) c[(i + threadIdx.y + 8 * r) * n + j] = least[r];
}
// Tiles of 64 x 64, a square of 4 x 4 a thread in registers, fed by wide loads.
extern "C" __global__ void ways_squares(const int* a, const int* b, int* c, int n) {
  __shared__ __align__(16) int p[16][68], q[16][64];
  int i = blockIdx.y * 64, j = blockIdx.x * 64, t = threadIdx.y * 16 + threadIdx.x, least[4][4];
  for (auto& line : least)
    for (int& one : line) one = 1 << 30;
  for (int k = 0; k < n; k += 16) {
    int4 v = *(const int4*)&a[(i + t / 4) * n + k + t % 4 * 4];
    p[t % 4 * 4][t / 4] = v.x; p[t % 4 * 4 + 1][t / 4] = v.y;
    p[t % 4 * 4 + 2][t / 4] = v.z; p[t % 4 * 4 + 3][t / 4] = v.w;
    *(int4*)&q[t / 16][t % 16 * 4] = *(const int4*)&b[(k + t / 16) * n + j + t % 16 * 4];
    __syncthreads();
#pragma unroll
    for (int m = 0; m < 16; ++m) {
      int4 u = *(int4*)&p[m][4 * threadIdx.y], w = *(int4*)&q[m][4 * threadIdx.x];
      int left[4] = {u.x, u.y, u.z, u.w}, right[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int s = 0; s < 4; ++s) least[r][s] = min(least[r][s], left[r] + right[s]);
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    *(int4*)&c[(i + 4 * threadIdx.y + r) * n + j + 4 * threadIdx.x] =
        make_int4(least[r][0], least[r][1], least[r][2], least[r][3]);
}
