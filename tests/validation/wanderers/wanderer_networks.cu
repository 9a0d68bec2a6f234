// Wanderers: parts of networks and products (launches: launches.toml).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>
namespace cg = cooperative_groups;

// y = L x for a lower triangle that is packed row by row.  A row a thread.
__device__ size_t row_start(int row) { return (size_t)row * (row + 1) / 2; }

extern "C" __global__ void triangle_thread(const float* __restrict__ packed, const float* __restrict__ x, float* y,
                                           int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  const float* a = packed + row_start(row);
  float sum = 0;
  for (int j = 0; j <= row; ++j) sum += a[j] * x[j];
  y[row] = sum;
}
// A row a warp.
extern "C" __global__ void triangle_warp(const float* __restrict__ packed, const float* __restrict__ x, float* y,
                                         int n) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (row >= n) return;
  const float* a = packed + row_start(row);
  float sum = 0;
  for (int j = warp.thread_rank(); j <= row; j += 32) sum += a[j] * x[j];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) y[row] = sum;
}
// Two rows a block, one from each end, so that all have as much to do; four products on their way.
template <int threads> __device__ float row_of_block(const float* a, const float* x, int count) {
  float sum[4] = {};
  int j = threadIdx.x;
  for (; j + 3 * threads < count; j += 4 * threads)
#pragma unroll
    for (int k = 0; k < 4; ++k) sum[k] += __ldcs(a + j + k * threads) * x[j + k * threads];
  for (; j < count; j += threads) sum[0] += __ldcs(a + j) * x[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
extern "C" __global__ void __launch_bounds__(128) triangle_pairs(const float* packed, const float* x, float* y, int n) {
  __shared__ float2 parts[4];
  int upper = blockIdx.x, lower = n - 1 - blockIdx.x;
  float2 sums = {row_of_block<128>(packed + row_start(upper), x, upper + 1),
                 row_of_block<128>(packed + row_start(lower), x, lower + 1)};
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  sums.x = cg::reduce(warp, sums.x, cg::plus<float>());
  sums.y = cg::reduce(warp, sums.y, cg::plus<float>());
  if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = sums;
  __syncthreads();
  if (threadIdx.x == 0) {
    y[upper] = parts[0].x + parts[1].x + parts[2].x + parts[3].x;
    y[lower] = parts[0].y + parts[1].y + parts[2].y + parts[3].y;
  }
}

// The power of beams: 64 antennas are added up with complex weights, for 64 beams and `times` times.
constexpr int antennas = 64;
__device__ void fma(float2& sum, float2 a, float2 b) {
  sum.x += a.x * b.x - a.y * b.y;
  sum.y += a.x * b.y + a.y * b.x;
}
__device__ float power(float2 v) { return v.x * v.x + v.y * v.y; }

// A beam and a time a thread.
extern "C" __global__ void beams_plain(const float2* weights, const float2* signals, float* powers, int times) {
  int time = blockIdx.x * blockDim.x + threadIdx.x, beam = blockIdx.y;
  if (time >= times) return;
  float2 sum = {};
  for (int a = 0; a < antennas; ++a) fma(sum, weights[beam * antennas + a], signals[(size_t)a * times + time]);
  powers[(size_t)beam * times + time] = power(sum);
}
// Eight beams a thread: what the antennas heard is read for all of them once.
extern "C" __global__ void beams_eight(const float2* __restrict__ weights, const float2* __restrict__ signals,
                                       float* __restrict__ powers, int times) {
  int time = blockIdx.x * blockDim.x + threadIdx.x, first = 8 * blockIdx.y;
  if (time >= times) return;
  float2 sums[8] = {};
  for (int a = 0; a < antennas; ++a) {
    float2 heard = signals[(size_t)a * times + time];
#pragma unroll
    for (int b = 0; b < 8; ++b) fma(sums[b], weights[(first + b) * antennas + a], heard);
  }
#pragma unroll
  for (int b = 0; b < 8; ++b) powers[(size_t)(first + b) * times + time] = power(sums[b]);
}
// The weights of sixteen beams in shared memory, antenna by antenna; a thread has four beams at four times.
extern "C" __global__ void __launch_bounds__(128) beams_square(const float2* weights, const float2* signals,
                                                               float* powers, int times) {
  __shared__ __align__(16) float2 near[antennas][16];
  const int t = threadIdx.x, lane = t % 32, first = 16 * blockIdx.y, time = blockIdx.x * 128 + lane;
  for (int k = t; k < 16 * antennas; k += 128) near[k % antennas][k / antennas] = weights[first * antennas + k];
  __syncthreads();
  float2 sums[4][4] = {};
#pragma unroll 2
  for (int a = 0; a < antennas; ++a) {
    const float4* of_beams = reinterpret_cast<const float4*>(&near[a][4 * (t / 32)]);
    const float4 two = of_beams[0], more = of_beams[1];
    const float2 weight[4] = {{two.x, two.y}, {two.z, two.w}, {more.x, more.y}, {more.z, more.w}};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 heard = signals[(size_t)a * times + min(time + 32 * k, times - 1)];
#pragma unroll
      for (int b = 0; b < 4; ++b) fma(sums[k][b], weight[b], heard);
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (time + 32 * k < times)
#pragma unroll
      for (int b = 0; b < 4; ++b)
        powers[(size_t)(first + 4 * (t / 32) + b) * times + time + 32 * k] = power(sums[k][b]);
}

// A small network: 16 numbers, two layers of 32 with ReLU, three numbers between 0 and 1.  The weights stand one layer
// after the other, each followed by what is added.
template <int in, int out> struct Layer {
  static constexpr int size = out * (in + 1);
  template <class Last>
  static __device__ void run(const float* weights, const float (&x)[in], float (&y)[out], Last last) {
#pragma unroll
    for (int o = 0; o < out; ++o) {
      float sum = weights[in * out + o];
#pragma unroll
      for (int i = 0; i < in; ++i) sum += weights[o * in + i] * x[i];
      y[o] = last(sum);
    }
  }
};
using First = Layer<16, 32>;
using Second = Layer<32, 32>;
using Third = Layer<32, 3>;
constexpr int all_weights = First::size + Second::size + Third::size;

__device__ void network(const float* weights, const float4* x, float* y) {
  auto relu = [](float v) { return fmaxf(v, 0.0f); };
  auto sigmoid = [](float v) { return 1 / (1 + __expf(-v)); };
  float in[16], one[32], two[32], out[3];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float4 v = x[k];
    in[4 * k] = v.x, in[4 * k + 1] = v.y, in[4 * k + 2] = v.z, in[4 * k + 3] = v.w;
  }
  First::run(weights, in, one, relu);
  Second::run(weights + First::size, one, two, relu);
  Third::run(weights + First::size + Second::size, two, out, sigmoid);
  for (int k = 0; k < 3; ++k) y[k] = out[k];
}
// Weights from global memory.
extern "C" __global__ void network_global(const float* __restrict__ weights, const float4* __restrict__ x,
                                          float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) network(weights, x + 4 * i, y + 3 * i);
}
// Weights from shared memory.
__device__ void bring_weights(float* near, const float* weights) {
  for (int k = threadIdx.x; k < all_weights; k += blockDim.x) near[k] = weights[k];
  __syncthreads();
}
extern "C" __global__ void network_shared(const float* __restrict__ weights, const float4* __restrict__ x,
                                          float* __restrict__ y, int n) {
  __shared__ __align__(16) float near[all_weights];
  bring_weights(near, weights);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) network(near, x + 4 * i, y + 3 * i);
}
// A row a warp: lane o keeps the weights of neuron o in registers, and the numbers of a layer go around by shuffles.
extern "C" __global__ void __launch_bounds__(128)
    network_lanes(const float* __restrict__ weights, const float* __restrict__ x, float* __restrict__ y, int n) {
  const int lane = threadIdx.x % 32, warps = gridDim.x * 4;
  float one[16], two[32], three[3];
  const float *second = weights + First::size, *third = second + Second::size;
#pragma unroll
  for (int i = 0; i < 16; ++i) one[i] = weights[16 * lane + i];
#pragma unroll
  for (int i = 0; i < 32; ++i) two[i] = second[32 * lane + i];
#pragma unroll
  for (int o = 0; o < 3; ++o) three[o] = third[32 * o + lane];
  const float more_one = weights[512 + lane], more_two = second[1024 + lane];
  const float more_three = lane < 3 ? third[96 + lane] : 0.0f;
  for (int row = blockIdx.x * 4 + threadIdx.x / 32; row < n; row += warps) {
    const float mine = lane < 16 ? x[16 * row + lane] : 0.0f;
    float a = more_one, b = more_two;
#pragma unroll
    for (int i = 0; i < 16; ++i) a += one[i] * __shfl_sync(~0u, mine, i);
    a = fmaxf(a, 0.0f);
#pragma unroll
    for (int i = 0; i < 32; ++i) b += two[i] * __shfl_sync(~0u, a, i);
    b = fmaxf(b, 0.0f);
    float result = 0;
#pragma unroll
    for (int o = 0; o < 3; ++o) {
      float part = three[o] * b;
      for (int step = 16; step; step /= 2) part += __shfl_xor_sync(~0u, part, step);
      if (lane == o) result = part;
    }
    if (lane < 3) y[3 * row + lane] = 1 / (1 + __expf(-result - more_three));
  }
}

// Of each row of scores only the likeliest are kept, as few as together have `share` of the probability (nucleus
// sampling); a bisection finds the least that is kept.  Scores of the row stand in shared memory.
constexpr int row_threads = 256;
template <class T, class Op> __device__ T of_block(T mine, T* parts, Op op) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  mine = cg::reduce(warp, mine, op);
  __syncthreads();
  if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = mine;
  __syncthreads();
  T all = parts[0];
  for (int k = 1; k < row_threads / 32; ++k) all = op(all, parts[k]);
  return all;
}
extern "C" __global__ void __launch_bounds__(row_threads)
    nucleus_rows(const float* scores, float* kept, int* counts, float share, int n) {
  extern __shared__ float likely[];
  __shared__ float parts[row_threads / 32];
  __shared__ int many[row_threads / 32];
  const cg::plus<float> plus;
  const size_t start = (size_t)blockIdx.x * n;
  float most = -1e30f, sum = 0;
  for (int k = threadIdx.x; k < n; k += row_threads) most = fmaxf(most, likely[k] = scores[start + k]);
  most = of_block(most, parts, cg::greater<float>());
  for (int k = threadIdx.x; k < n; k += row_threads) sum += likely[k] = __expf(likely[k] - most);
  float low = 0, high = 1, mass = of_block(sum, parts, plus);  // of what is above `low`, which is enough
  const float wanted = share * mass;
  int above_low = n, above_high = 0;
  while (above_low - above_high > 1) {
    const float middle = 0.5f * (low + high);
    if (middle <= low || middle >= high) break;
    float part = 0;
    int count = 0;
    for (int k = threadIdx.x; k < n; k += row_threads)
      if (likely[k] > middle) part += likely[k], ++count;
    part = of_block(part, parts, plus);
    count = of_block(count, many, cg::plus<int>());
    if (part >= wanted)
      low = middle, above_low = count, mass = part;
    else
      high = middle, above_high = count;
  }
  const float factor = 1 / mass;
  for (int k = threadIdx.x; k < n; k += row_threads) kept[start + k] = likely[k] > low ? likely[k] * factor : 0.0f;
  if (threadIdx.x == 0) counts[blockIdx.x] = above_low;
}
