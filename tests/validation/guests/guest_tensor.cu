// Guests: products of matrices of bytes and halves (launches: launches.toml).
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
using byte = signed char;

// c = a b' of bytes, in 32 bits; a and b have n rows of n.  An element a thread, byte by byte.
extern "C" __global__ void bytes_plain(const byte* a, const byte* b, int* c, int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  for (int k = 0; k < n; ++k) s += a[i * n + k] * b[j * n + k];
  c[i * n + j] = s;
}
// Four bytes at once.
extern "C" __global__ void bytes_fours(const int* a, const int* b, int* c, int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  for (int k = 0; k < n / 4; ++k) s = __dp4a(a[i * (n / 4) + k], b[j * (n / 4) + k], s);
  c[i * n + j] = s;
}
// A block has 64 x 64 elements and brings 64 bytes of each row to shared memory; sixteen elements a thread.
extern "C" __global__ void bytes_tile(const int* a, const int* b, int* c, int n) {
  __shared__ int s[64][17], t[64][17];
  int x = threadIdx.x, y = threadIdx.y, sum[4][4] = {};
  const int *pa = a + blockIdx.y * 64 * (n / 4), *pb = b + blockIdx.x * 64 * (n / 4);
  for (int k = 0; k < n / 4; k += 16) {
    for (int r = y; r < 64; r += 16) {
      s[r][x] = pa[r * (n / 4) + k + x];
      t[r][x] = pb[r * (n / 4) + k + x];
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 16; ++q) {
      int u[4], v[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) { u[r] = s[y + 16 * r][q]; v[r] = t[x + 16 * r][q]; }
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int p = 0; p < 4; ++p) sum[r][p] = __dp4a(u[r], v[p], sum[r][p]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int p = 0; p < 4; ++p) c[(blockIdx.y * 64 + y + 16 * r) * n + blockIdx.x * 64 + x + 16 * p] = sum[r][p];
}
// Tensor cores: a warp has 32 x 32, straight from global memory.
extern "C" __global__ void bytes_warp(const byte* a, const byte* b, int* c, int n) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum[2][2];
  int i = 32 * (blockIdx.y * 2 + threadIdx.x / 64), j = 32 * (blockIdx.x * 2 + threadIdx.x / 32 % 2);
  for (int r = 0; r < 2; ++r)
    for (int p = 0; p < 2; ++p) wmma::fill_fragment(sum[r][p], 0);
  for (int k = 0; k < n; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, byte, wmma::row_major> u[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, byte, wmma::col_major> v[2];
    for (int r = 0; r < 2; ++r) {
      wmma::load_matrix_sync(u[r], a + (i + 16 * r) * n + k, n);
      wmma::load_matrix_sync(v[r], b + (j + 16 * r) * n + k, n);
    }
    for (int r = 0; r < 2; ++r)
      for (int p = 0; p < 2; ++p) wmma::mma_sync(sum[r][p], u[r], v[p], sum[r][p]);
  }
  for (int r = 0; r < 2; ++r)
    for (int p = 0; p < 2; ++p)
      wmma::store_matrix_sync(c + (i + 16 * r) * n + j + 16 * p, sum[r][p], n, wmma::mem_row_major);
}

// Scores of queries and keys of 64 halves, scaled; blocks above the diagonal have nothing to do.
extern "C" __global__ void causal_scores(const __half* q, const __half* k, float* scores, float scale, int n) {
  if (blockIdx.x > blockIdx.y) return;
  __shared__ __half s[64][72], t[64][72];
  for (int e = threadIdx.x; e < 64 * 8; e += 128) {
    int row = e / 8, part = e % 8 * 8;
    *(uint4*)&s[row][part] = *(const uint4*)(q + (blockIdx.y * 64 + row) * 64 + part);
    *(uint4*)&t[row][part] = *(const uint4*)(k + (blockIdx.x * 64 + row) * 64 + part);
  }
  __syncthreads();
  int warp = threadIdx.x / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
  for (int p = 0; p < 4; ++p) wmma::fill_fragment(sum[p], 0.0f);
  for (int e = 0; e < 64; e += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> u;
    wmma::load_matrix_sync(u, &s[16 * warp][e], 72);
    for (int p = 0; p < 4; ++p) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> v;
      wmma::load_matrix_sync(v, &t[16 * p][e], 72);
      wmma::mma_sync(sum[p], u, v, sum[p]);
    }
  }
  for (int p = 0; p < 4; ++p) {
    for (int e = 0; e < sum[p].num_elements; ++e) sum[p].x[e] *= scale;
    wmma::store_matrix_sync(scores + (blockIdx.y * 64 + 16 * warp) * n + blockIdx.x * 64 + 16 * p, sum[p], n,
                            wmma::mem_row_major);
  }
}
