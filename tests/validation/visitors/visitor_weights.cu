// Visitors: weights of four bits, caches of keys and values, products of bytes and halves (launches:
// launches.toml).
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
using uint = unsigned;

__device__ float over_warp(float v) {
#pragma unroll
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  return v;
}
// Eight weights of four bits, less 8, by eight halves.
__device__ float eight(uint word, const __half* x) {
  float s = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) s += (float)((int)(word >> 4 * k & 15) - 8) * __half2float(x[k]);
  return s;
}
__device__ float eight_at_once(uint word, uint4 x) { return eight(word, (const __half*)&x); }

// y = w x; a row has n weights of four bits, each 32 of them a scale.  A row a thread.
extern "C" __global__ void four_bits_thread(const uint* w, const __half* scales, const __half* x, float* y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int group = 0; group < n / 32; ++group) {
    float s = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) s += eight(w[row * (n / 8) + group * 4 + k], x + group * 32 + k * 8);
    sum += s * __half2float(scales[row * (n / 32) + group]);
  }
  y[row] = sum;
}
// A row a warp, eight weights a lane.
extern "C" __global__ void four_bits_warp(const uint* w, const __half* scales, const __half* x, float* y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  float sum = 0;
  for (int k = lane; k < n / 8; k += 32)
    sum += eight(w[row * (n / 8) + k], x + 8 * k) * __half2float(scales[row * (n / 32) + k / 4]);
  sum = over_warp(sum);
  if (lane == 0) y[row] = sum;
}
// 32 weights a lane, in 16 bytes.
extern "C" __global__ void four_bits_wide(const uint4* w, const __half* scales, const uint4* x, float* y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  float sum = 0;
  for (int k = lane; k < n / 32; k += 32) {
    uint4 v = w[row * (n / 32) + k];
    float s = eight_at_once(v.x, x[4 * k]) + eight_at_once(v.y, x[4 * k + 1]) + eight_at_once(v.z, x[4 * k + 2]) +
              eight_at_once(v.w, x[4 * k + 3]);
    sum += s * __half2float(scales[row * (n / 32) + k]);
  }
  sum = over_warp(sum);
  if (lane == 0) y[row] = sum;
}
// The same with x in shared memory, where each 64 bytes have 16 more behind them; four rows a warp.
extern "C" __global__ void four_bits_shared(const uint4* w, const __half* scales, const uint4* x, float* y, int n) {
  extern __shared__ uint4 s[];
  for (int k = threadIdx.x; k < n / 8; k += blockDim.x) s[k / 4 * 5 + k % 4] = x[k];
  __syncthreads();
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 4, lane = threadIdx.x & 31;
  float sum[4] = {};
  for (int k = lane; k < n / 32; k += 32) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      uint4 v = w[(row + r) * (n / 32) + k];
      float part = eight_at_once(v.x, s[5 * k]) + eight_at_once(v.y, s[5 * k + 1]) +
                   eight_at_once(v.z, s[5 * k + 2]) + eight_at_once(v.w, s[5 * k + 3]);
      sum[r] += part * __half2float(scales[(row + r) * (n / 32) + k]);
    }
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    float total = over_warp(sum[r]);
    if (lane == 0) y[row + r] = total;
  }
}

// Attention of one new query a head to n keys and values of 64 halves; a block of 128 a head, scores in shared memory.
__device__ float softmax(float* score, int n, float* room) {
  int t = threadIdx.x;
  float high = -1e30f, sum = 0;
  for (int k = t; k < n; k += 128) high = fmaxf(high, score[k]);
#pragma unroll
  for (int k = 16; k; k /= 2) high = fmaxf(high, __shfl_xor_sync(~0u, high, k));
  if (t % 32 == 0) room[t / 32] = high;
  __syncthreads();
  high = fmaxf(fmaxf(room[0], room[1]), fmaxf(room[2], room[3]));
  for (int k = t; k < n; k += 128) sum += score[k] = __expf(score[k] - high);
  sum = over_warp(sum);
  if (t % 32 == 0) room[4 + t / 32] = sum;
  __syncthreads();
  return 1 / (room[4] + room[5] + room[6] + room[7]);
}
// A key a thread.
extern "C" __global__ void decode_thread(const __half2* q, const __half2* keys, const __half* values, float* y, int n) {
  __shared__ float score[1024], room[8], half_sum[64];
  __shared__ float2 query[32];
  int t = threadIdx.x;
  size_t start = (size_t)blockIdx.x * n;
  if (t < 32) query[t] = __half22float2(q[blockIdx.x * 32 + t]);
  __syncthreads();
  for (int k = t; k < n; k += 128) {
    float s = 0;
#pragma unroll 8
    for (int c = 0; c < 32; ++c) {
      float2 v = __half22float2(keys[(start + k) * 32 + c]);
      s += v.x * query[c].x + v.y * query[c].y;
    }
    score[k] = s * 0.125f;
  }
  __syncthreads();
  float by = softmax(score, n, room), sum = 0;
  for (int k = t / 64; k < n; k += 2) sum += score[k] * __half2float(values[(start + k) * 64 + t % 64]);
  if (t >= 64) half_sum[t - 64] = sum;
  __syncthreads();
  if (t < 64) y[blockIdx.x * 64 + t] = (sum + half_sum[t]) * by;
}
// A key a warp, two elements a lane.
extern "C" __global__ void decode_warp(const __half2* q, const __half2* keys, const __half2* values, float2* y, int n) {
  __shared__ float score[1024], room[8];
  __shared__ float2 sums[4][32];
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  size_t start = (size_t)blockIdx.x * n;
  float2 query = __half22float2(q[blockIdx.x * 32 + lane]);
  for (int k = warp; k < n; k += 4) {
    float2 v = __half22float2(keys[(start + k) * 32 + lane]);
    float s = over_warp(v.x * query.x + v.y * query.y);
    if (lane == 0) score[k] = s * 0.125f;
  }
  __syncthreads();
  float by = softmax(score, n, room);
  float2 sum = make_float2(0, 0);
  for (int k = warp; k < n; k += 4) {
    float2 v = __half22float2(values[(start + k) * 32 + lane]);
    sum.x += score[k] * v.x;
    sum.y += score[k] * v.y;
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp == 0) {
    for (int k = 1; k < 4; ++k) { sum.x += sums[k][lane].x; sum.y += sums[k][lane].y; }
    y[blockIdx.x * 32 + lane] = make_float2(sum.x * by, sum.y * by);
  }
}
// A key eight lanes, 16 bytes each: sixteen keys at once.
extern "C" __global__ void decode_eights(const uint4* q, const uint4* keys, const uint4* values, float* y, int n) {
  __shared__ float score[1024], room[8], sums[4][64];
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32, part = lane & 7, group = threadIdx.x / 8;
  size_t start = (size_t)blockIdx.x * n;
  uint4 raw = q[blockIdx.x * 8 + part];
  float2 query[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) query[c] = __half22float2(((const __half2*)&raw)[c]);
#pragma unroll 4
  for (int k = group; k < n; k += 16) {
    uint4 word = keys[(start + k) * 8 + part];
    float s = 0;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float2 v = __half22float2(((const __half2*)&word)[c]);
      s += v.x * query[c].x + v.y * query[c].y;
    }
#pragma unroll
    for (int w = 4; w; w /= 2) s += __shfl_xor_sync(~0u, s, w);
    if (part == 0) score[k] = s * 0.125f;
  }
  __syncthreads();
  float by = softmax(score, n, room), sum[8] = {};
#pragma unroll 4
  for (int k = group; k < n; k += 16) {
    uint4 word = values[(start + k) * 8 + part];
    float weight = score[k];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float2 v = __half22float2(((const __half2*)&word)[c]);
      sum[2 * c] += weight * v.x;
      sum[2 * c + 1] += weight * v.y;
    }
  }
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    sum[c] += __shfl_xor_sync(~0u, sum[c], 8);
    sum[c] += __shfl_xor_sync(~0u, sum[c], 16);
    if (lane < 8) sums[warp][8 * part + c] = sum[c];
  }
  __syncthreads();
  int t = threadIdx.x;
  if (t < 64) y[blockIdx.x * 64 + t] = (sums[0][t] + sums[1][t] + sums[2][t] + sums[3][t]) * by;
}

// A 3 x 3 convolution of 64 channels of bytes into 64, as int8 networks have it: a thread has a channel of four pixels
// of a row; the picture has a border of one, four channels of weights lie in a word.
extern "C" __global__ void conv_of_bytes(const int* x, const int* weight, const int* bias, signed char* y, int w, int shift) {
  int channel = threadIdx.x, u = blockIdx.x * 4, v = blockIdx.y * blockDim.y + threadIdx.y, sum[4];
#pragma unroll
  for (int p = 0; p < 4; ++p) sum[p] = bias[channel];
  for (int b = 0; b < 3; ++b)
    for (int a = 0; a < 3; ++a) {
      const int *from = x + ((v + b) * (w + 2) + u + a) * 16, *by = weight + (b * 3 + a) * 16 * 64 + channel;
#pragma unroll 4
      for (int k = 0; k < 16; ++k) {
        int f = by[k * 64];
#pragma unroll
        for (int p = 0; p < 4; ++p) sum[p] = __dp4a(from[p * 16 + k], f, sum[p]);
      }
    }
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    int r = (sum[p] + (1 << (shift - 1))) >> shift;
    y[(v * w + u + p) * 64 + channel] = (signed char)min(max(r, 0), 127);
  }
}

// A change of low rank: y += (x a) b with a of n x 16 and b of 16 x n; a block has 64 rows and 128 columns of y.
extern "C" __global__ void low_rank_update(const __half* x, const __half* a, const __half* b, float* y, int n) {
  __shared__ float wide[4][16][16];
  __shared__ __half narrow[4][16][16];
  int warp = threadIdx.x / 32, lane = threadIdx.x & 31, row = blockIdx.y * 64 + 16 * warp;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> u;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> v;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(u, x + (size_t)row * n + k, n);
    wmma::load_matrix_sync(v, a + k * 16, 16);
    wmma::mma_sync(sum, u, v, sum);
  }
  wmma::store_matrix_sync(&wide[warp][0][0], sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int e = lane; e < 256; e += 32) narrow[warp][e / 16][e % 16] = __float2half_rn(wide[warp][e / 16][e % 16]);
  __syncwarp();
  wmma::load_matrix_sync(u, &narrow[warp][0][0], 16);
  for (int p = 0; p < 8; ++p) {
    int column = blockIdx.x * 128 + 16 * p;
    wmma::load_matrix_sync(v, b + column, n);
    wmma::load_matrix_sync(sum, y + (size_t)row * n + column, n, wmma::mem_row_major);
    wmma::mma_sync(sum, u, v, sum);
    wmma::store_matrix_sync(y + (size_t)row * n + column, sum, n, wmma::mem_row_major);
  }
}
