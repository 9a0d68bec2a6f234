// Settlers: layers of networks (launches: launches.toml).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <cstdint>

// Pixel shuffle by two: channels 4c to 4c + 3 become the four pixels of each square of channel c.  A thread for each
// pixel that comes out, which divides its index.
extern "C" __global__ void pixel_shuffle_gather(const __half* __restrict__ input, __half* __restrict__ output,
                                                int64_t channels, int64_t height, int64_t width) {
  const int64_t index = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t ow = 2 * width, oh = 2 * height;
  if (index >= channels * oh * ow) return;
  const int64_t x = index % ow;
  const int64_t y = (index / ow) % oh;
  const int64_t c = index / (ow * oh);
  const int64_t ic = c * 4 + (y % 2) * 2 + x % 2;
  output[index] = input[(ic * height + y / 2) * width + x / 2];
}

// A thread for each pixel that goes in, found by a grid of three dimensions.
extern "C" __global__ void pixel_shuffle_scatter(const __half* input, __half* output, int64_t channels, int64_t height,
                                                 int64_t width) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  int h = blockIdx.y * blockDim.y + threadIdx.y;
  int ic = blockIdx.z;
  if (w >= width || h >= height) return;
  int c = ic >> 2, dy = (ic >> 1) & 1, dx = ic & 1;
  output[(c * 2 * height + 2 * h + dy) * 2 * width + 2 * w + dx] = input[(ic * height + h) * width + w];
}

// Two pixels of all four channels a thread, so that it stores eight bytes in each of two rows.
struct alignas(8) HalfQuad {
  __half2 left, right;
};
extern "C" __global__ void pixel_shuffle_quads(const __half2* __restrict__ input, HalfQuad* __restrict__ output,
                                               int64_t channels, int64_t height, int64_t width) {
  const int pairs = (int)width / 2;
  const int per_channel = (int)height * pairs;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (int)channels * per_channel; i += gridDim.x * blockDim.x) {
    const int c = i / per_channel, place = i - c * per_channel, h = place / pairs, pair = place - h * pairs;
    __half2 in[4];
#pragma unroll
    for (int k = 0; k < 4; k++) in[k] = input[(4 * c + k) * per_channel + place];
    HalfQuad* row = output + (size_t)(2 * (c * (int)height + h)) * pairs + pair;
    row[0] = {__lows2half2(in[0], in[1]), __highs2half2(in[0], in[1])};
    row[pairs] = {__lows2half2(in[2], in[3]), __highs2half2(in[2], in[3])};
  }
}

// Of each four weights only the two largest stay, for sparse tensor cores: two numbers, and four bits that say which
// they were; four threads write sixteen bits of those together.
template <typename scalar_t>
__device__ __forceinline__ float magnitude(scalar_t v) {
  return fabsf(static_cast<float>(v));
}
extern "C" __global__ void prune_2_of_4(const __nv_bfloat16* weights, __nv_bfloat16* kept, uint16_t* metadata,
                                        size_t groups) {
  size_t g = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  bool valid = g < groups;
  __nv_bfloat16 w[4] = {};
  if (valid) {
    uint2 raw = *reinterpret_cast<const uint2*>(weights + 4 * g);
    memcpy(w, &raw, sizeof(raw));
  }
  int first = 0;
#pragma unroll
  for (int k = 1; k < 4; k++)
    if (magnitude(w[k]) > magnitude(w[first])) first = k;
  int second = first == 0 ? 1 : 0;
#pragma unroll
  for (int k = 1; k < 4; k++)
    if (k != first && magnitude(w[k]) > magnitude(w[second])) second = k;
  int low = min(first, second), high = max(first, second);
  unsigned meta = (low | high << 2) << (4 * (threadIdx.x & 3));
  meta |= __shfl_xor_sync(0xffffffffu, meta, 1);
  meta |= __shfl_xor_sync(0xffffffffu, meta, 2);
  if (!valid) return;
  reinterpret_cast<__nv_bfloat162*>(kept)[g] = __halves2bfloat162(w[low], w[high]);
  if ((threadIdx.x & 3) == 0) metadata[g / 4] = (uint16_t)meta;
}

// The mean over sequences of outer products of two projections (32 channels each), for each pair of places i, j: a warp
// a pair, by tensor cores.
using namespace nvcuda;
extern "C" __global__ void __launch_bounds__(128)
    outer_product_mean(const half* a, const half* b, float* out, int I, int J, int S) {
  const int warp = threadIdx.x >> 5;
  const int j = blockIdx.x * 4 + warp, i = blockIdx.y;
  if (j >= J) return;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 2; c++) wmma::fill_fragment(acc[r][c], 0.0f);
  for (int s = 0; s < S; s += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> left[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {
      wmma::load_matrix_sync(left[k], a + ((size_t)s * I + i) * 32 + 16 * k, I * 32);
      wmma::load_matrix_sync(right[k], b + ((size_t)s * J + j) * 32 + 16 * k, J * 32);
    }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
      for (int c = 0; c < 2; c++) wmma::mma_sync(acc[r][c], left[r], right[c], acc[r][c]);
  }
  float* tile = out + ((size_t)i * J + j) * 1024;
  const float scale = 1.0f / S;
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 2; c++) {
      for (int e = 0; e < acc[r][c].num_elements; e++) acc[r][c].x[e] *= scale;
      wmma::store_matrix_sync(tile + 16 * r * 32 + 16 * c, acc[r][c], 32, wmma::mem_row_major);
    }
}
