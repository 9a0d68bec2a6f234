// Newcomers: products, factors and sparse matrices (launches: launches.toml).
#include <cuda_bf16.h>
using uchar = unsigned char;

// c = a a', where a has n rows of k floats; n need not be a multiple of anything, k is one of 16.
// An element a thread.
extern "C" __global__ void squared_plain(const float* a, float* c, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[row * k + p] * a[column * k + p];
  c[row * n + column] = sum;
}
// Tiles of 16 x 16 in shared memory, whose rows have `spare` numbers behind them.
template <int spare> __device__ void squared_by_tiles(const float* a, float* c, int n, int k) {
  __shared__ float upper[16][16 + spare], left[16][16 + spare];
  const int tx = threadIdx.x, ty = threadIdx.y, top = 16 * blockIdx.y, side = 16 * blockIdx.x;
  float sum = 0;
  for (int start = 0; start < k; start += 16) {
    left[ty][tx] = top + ty < n ? a[(top + ty) * k + start + tx] : 0.0f;
    upper[ty][tx] = side + ty < n ? a[(side + ty) * k + start + tx] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 16; ++p) sum += left[ty][p] * upper[tx][p];
    __syncthreads();
  }
  if (top + ty < n && side + tx < n) c[(top + ty) * n + side + tx] = sum;
}
extern "C" __global__ void squared_tile(const float* a, float* c, int n, int k) { squared_by_tiles<0>(a, c, n, k); }
extern "C" __global__ void squared_padded(const float* a, float* c, int n, int k) { squared_by_tiles<1>(a, c, n, k); }
// 64 x 64 elements a block, 4 x 4 a thread, 16 apart, and none above the diagonal: they are those below.
extern "C" __global__ void squared_lower(const float* a, float* c, int n, int k) {
  __shared__ float left[16][65], upper[16][65];
  int tile_row = (int)((sqrtf(8.0f * blockIdx.x + 1.0f) - 1.0f) * 0.5f);
  while ((tile_row + 1) * (tile_row + 2) / 2 <= (int)blockIdx.x) ++tile_row;
  while (tile_row * (tile_row + 1) / 2 > (int)blockIdx.x) --tile_row;
  const int tile_column = blockIdx.x - tile_row * (tile_row + 1) / 2;
  const int top = 64 * tile_row, side = 64 * tile_column, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[4][4] = {};
  for (int start = 0; start < k; start += 16) {
    for (int r = ty; r < 64; r += 16) {
      left[tx][r] = top + r < n ? a[(top + r) * k + start + tx] : 0.0f;
      upper[tx][r] = side + r < n ? a[(side + r) * k + start + tx] : 0.0f;
    }
    __syncthreads();
#pragma unroll 4
    for (int p = 0; p < 16; ++p) {
      float u[4], v[4];
      for (int e = 0; e < 4; ++e) {
        u[e] = left[p][ty + 16 * e];
        v[e] = upper[p][tx + 16 * e];
      }
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += u[i] * v[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = top + ty + 16 * i, column = side + tx + 16 * j;
      if (row >= n || column > row) continue;
      c[row * n + column] = sum[i][j];
      c[column * n + row] = sum[i][j];
    }
}

// y = x' m for a matrix of k rows and n columns of bf16: two columns a thread, as many parts of the rows as the grid is
// high; each part has sums of its own.
extern "C" __global__ void column_parts(const __nv_bfloat162* m, const float* x, float2* y, int k, int n) {
  const int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= n / 2) return;
  const int each = (k + gridDim.y - 1) / gridDim.y, from = blockIdx.y * each, to = min(k, from + each);
  float2 sum = make_float2(0, 0);
#pragma unroll 8
  for (int row = from; row < to; ++row) {
    const float2 v = __bfloat1622float2(m[(size_t)row * (n / 2) + pair]);
    const float by = x[row];
    sum.x += by * v.x;
    sum.y += by * v.y;
  }
  y[(size_t)blockIdx.y * (n / 2) + pair] = sum;
}

// A sparse matrix in slices of 32 rows, in double (SELL): slice s has width[s] of 20 columns of entries, a row a lane.
struct Slices {
  const double* value;
  const int* column;
  const uchar* width;
};
extern "C" __global__ void sliced_rows(const double* value, const int* column, const uchar* width, const double* x,
                                       double* y, int slices) {
  const Slices m{value, column, width};
  const int slice = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (slice >= slices) return;
  double sum = 0;
  size_t at = (size_t)slice * 640 + lane;
  for (int left = m.width[slice]; left > 0; --left, at += 32) sum += m.value[at] * x[m.column[at]];
  y[slice * 32 + lane] = sum;
}

// Factors of 24 x 24 matrices with a search for pivots, in place: a block each; a warp looks for the pivot, all go on.
extern "C" __global__ void factors_24(float* all, uchar* pivots) {
  constexpr int n = 24;
  __shared__ float m[n][n + 1];
  __shared__ int chosen;
  const int t = threadIdx.y * 32 + threadIdx.x, lane = threadIdx.x;
  float* mine = all + (size_t)blockIdx.x * n * n;
  for (int k = t; k < n * n; k += 128) m[k / n][k % n] = mine[k];
  __syncthreads();
  for (int step = 0; step < n; ++step) {
    if (threadIdx.y == 0) {
      float best = lane >= step && lane < n ? fabsf(m[lane][step]) : -1.0f;
      int at = lane;
      for (int k = 16; k > 0; k /= 2) {
        const float other = __shfl_down_sync(0xffffffffu, best, k);
        const int there = __shfl_down_sync(0xffffffffu, at, k);
        if (other > best) { best = other; at = there; }
      }
      if (lane == 0) {
        chosen = at;
        pivots[blockIdx.x * n + step] = at;
      }
    }
    __syncthreads();
    if (chosen != step && t < n) {
      const float kept = m[step][t];
      m[step][t] = m[chosen][t];
      m[chosen][t] = kept;
    }
    __syncthreads();
    if (t > step && t < n) m[t][step] /= m[step][step];
    __syncthreads();
    if (lane > step && lane < n)
      for (int row = step + 1 + threadIdx.y; row < n; row += 4) m[row][lane] -= m[row][step] * m[step][lane];
    __syncthreads();
  }
  for (int k = t; k < n * n; k += 128) mine[k] = m[k / n][k % n];
}
