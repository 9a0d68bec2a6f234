// A product of half-precision matrices: by the units for single values, and by tensor cores.
// /// warplens
// n = 64
// [halves]
// grid = ["n / 16", "n / 16"]
// block = [16, 16]
// args = ["random f16[n * n]", "random f16[n * n]", "zeros f16[n * n]", "n"]
// [widened]
// grid = ["n / 16", "n / 16"]
// block = [16, 16]
// args = ["random f16[n * n]", "random f16[n * n]", "zeros f32[n * n]", "n"]
// [tensor]
// grid = ["n / 16", "n / 16"]
// block = 32
// args = ["random f16[n * n]", "random f16[n * n]", "zeros f32[n * n]", "n"]
// ///
#include <cuda_fp16.h>
#include <mma.h>

__global__ void halves(const __half* a, const __half* b, __half* c, int n) {
  __shared__ __half as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  __half sum = 0;
  for (int p = 0; p < n; p += 16) {
    as[y][x] = a[row * n + p + x];
    bs[y][x] = b[(p + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum = __hfma(as[y][k], bs[k][x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void widened(const __half* a, const __half* b, float* c, int n) {
  __shared__ __half as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int p = 0; p < n; p += 16) {
    as[y][x] = a[row * n + p + x];
    bs[y][x] = b[(p + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += __half2float(as[y][k]) * __half2float(bs[k][x]);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void tensor(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> as;
  fragment<matrix_b, 16, 16, 16, __half, row_major> bs;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int p = 0; p < n; p += 16) {
    load_matrix_sync(as, a + blockIdx.y * 16 * n + p, n);
    load_matrix_sync(bs, b + p * n + blockIdx.x * 16, n);
    mma_sync(sum, as, bs, sum);
  }
  store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, mem_row_major);
}
