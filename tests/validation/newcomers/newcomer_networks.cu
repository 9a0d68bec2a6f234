// Newcomers: parts of networks (launches: launches.toml).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;

// Pictures of halves with 96 channels one behind the other become pictures whose channels lie together.
constexpr int depth = 96;
// Reads side by side, writes far apart.
extern "C" __global__ void together_plain(const __half* x, __half* y, int plane) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, image = blockIdx.z;
  if (pixel >= plane) return;
  y[((size_t)image * plane + pixel) * depth + c] = x[((size_t)image * depth + c) * plane + pixel];
}
// 32 channels of 32 pixels through shared memory.
extern "C" __global__ void together_tile(const __half* x, __half* y, int plane) {
  __shared__ __half tile[32][33];
  const int first = 32 * blockIdx.x, c = 32 * blockIdx.y, tx = threadIdx.x;
  const size_t image = blockIdx.z;
  for (int r = threadIdx.y; r < 32; r += blockDim.y)
    if (first + tx < plane) tile[r][tx] = x[(image * depth + c + r) * plane + first + tx];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += blockDim.y)
    if (first + r < plane) y[(image * plane + first + r) * depth + c + tx] = tile[tx][r];
}
// 32 channels of 64 pixels: two pixels a load, eight channels a store.
extern "C" __global__ void together_wide(const __half2* x, uint4* y, int plane) {
  __shared__ __half tile[32][66];
  const int t = threadIdx.x, first = 64 * blockIdx.x, c = 32 * blockIdx.y;
  const size_t image = blockIdx.z;
  for (int k = t; k < 1024; k += 256) {
    const int row = k / 32, pair = k % 32;
    if (first + 2 * pair < plane)
      *reinterpret_cast<__half2*>(&tile[row][2 * pair]) =
          x[((image * depth + c + row) * plane + first) / 2 + pair];
  }
  __syncthreads();
  const int pixel = t / 4, part = t % 4;
  if (first + pixel >= plane) return;
  alignas(16) __half eight[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) eight[k] = tile[8 * part + k][pixel];
  y[((image * plane + first + pixel) * depth + c) / 8 + part] = *reinterpret_cast<const uint4*>(eight);
}

// Batch norm with what was learnt, and ReLU.
struct Learnt {
  const float *mean, *variance, *weight, *bias;
  __device__ float operator()(float v, int c) const {
    return fmaxf(0.0f, (v - mean[c]) / sqrtf(variance[c] + 1e-5f) * weight[c] + bias[c]);
  }
};
// An element a thread.
extern "C" __global__ void batch_norm_plain(const float* x, float* y, const float* mean, const float* variance,
                                            const float* weight, const float* bias, int count, int plane, int n) {
  const Learnt learnt{mean, variance, weight, bias};
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) y[at] = learnt(x[at], at / plane % count);
}
// A plane a block: what was learnt is made one factor and one addend.
template <class V, class F> __device__ void over_plane(const V* x, V* y, int words, F change) {
  const size_t start = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * words;
  for (int k = threadIdx.x; k < words; k += blockDim.x) y[start + k] = change(x[start + k]);
}
extern "C" __global__ void batch_norm_plane(const float* x, float* y, const float* mean, const float* variance,
                                            const float* weight, const float* bias, int plane) {
  const int c = blockIdx.x;
  const float by = weight[c] * rsqrtf(variance[c] + 1e-5f), more = bias[c] - mean[c] * by;
  over_plane(x, y, plane, [=](float v) { return fmaxf(0.0f, v * by + more); });
}
// The same, four elements at once.
extern "C" __global__ void batch_norm_fours(const float4* x, float4* y, const float* mean, const float* variance,
                                            const float* weight, const float* bias, int plane) {
  const int c = blockIdx.x;
  const float by = weight[c] * rsqrtf(variance[c] + 1e-5f), more = bias[c] - mean[c] * by;
  over_plane(x, y, plane / 4, [=](float4 v) {
    return make_float4(fmaxf(0.0f, v.x * by + more), fmaxf(0.0f, v.y * by + more), fmaxf(0.0f, v.z * by + more),
                       fmaxf(0.0f, v.w * by + more));
  });
}

// A layer of 3 x 3 filters from 16 channels to 32 with zeros around the picture, and ReLU.
constexpr int ins = 16, outs = 32;
__device__ bool inside(int x, int y, int w, int h) { return x >= 0 && y >= 0 && x < w && y < h; }
// A number a thread, everything from memory.
extern "C" __global__ void layer_plain(const float* x, const float* weight, const float* bias, float* y, int w, int h) {
  const int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
  const int out = blockIdx.z % outs, image = blockIdx.z / outs;
  if (px >= w || py >= h) return;
  float sum = bias[out];
  for (int in = 0; in < ins; ++in)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (inside(px + dx, py + dy, w, h))
          sum += x[((image * ins + in) * h + py + dy) * w + px + dx] *
                 weight[(out * ins + in) * 9 + 3 * (dy + 1) + dx + 1];
  y[((image * outs + out) * h + py) * w + px] = fmaxf(sum, 0.0f);
}
// Each channel's pixels and filters come to shared memory; `many` channels and `high` pixels of a column a thread.
template <int many, int high>
__device__ void layer_by_tiles(const float* x, const float* weight, const float* bias, float* y, int w, int h) {
  constexpr int rows = 8 * high;
  __shared__ float tile[rows + 2][34], filter[many][9];
  const int left = blockIdx.x * 32, top = blockIdx.y * rows, tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx;
  const int first = blockIdx.z % (outs / many) * many, image = blockIdx.z / (outs / many);
  float sum[high][many];
#pragma unroll
  for (int o = 0; o < many; ++o)
#pragma unroll
    for (int r = 0; r < high; ++r) sum[r][o] = bias[first + o];
  for (int in = 0; in < ins; ++in) {
    const float* plane = x + (image * ins + in) * h * w;
    for (int k = t; k < (rows + 2) * 34; k += 256) {
      const int px = left + k % 34 - 1, py = top + k / 34 - 1;
      tile[k / 34][k % 34] = inside(px, py, w, h) ? plane[py * w + px] : 0.0f;
    }
    if (t < 9 * many) filter[t / 9][t % 9] = weight[((first + t / 9) * ins + in) * 9 + t % 9];
    __syncthreads();
#pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
      float v[high];
#pragma unroll
      for (int r = 0; r < high; ++r) v[r] = tile[ty * high + r + tap / 3][tx + tap % 3];
#pragma unroll
      for (int o = 0; o < many; ++o)
#pragma unroll
        for (int r = 0; r < high; ++r) sum[r][o] += v[r] * filter[o][tap];
    }
    __syncthreads();
  }
  for (int o = 0; o < many; ++o)
    for (int r = 0; r < high; ++r) {
      const int px = left + tx, py = top + ty * high + r;
      if (px < w && py < h) y[((image * outs + first + o) * h + py) * w + px] = fmaxf(sum[r][o], 0.0f);
    }
}
extern "C" __global__ void layer_tile(const float* x, const float* weight, const float* bias, float* y, int w, int h) {
  layer_by_tiles<1, 1>(x, weight, bias, y, w, h);
}
extern "C" __global__ void layer_many(const float* x, const float* weight, const float* bias, float* y, int w, int h) {
  layer_by_tiles<16, 2>(x, weight, bias, y, w, h);
}

// Layer norm of rows of 768 bf16, scaled and moved as each picture says, as in diffusion transformers; a warp a row.
struct Words {
  uint4 word[3];
  __device__ void fetch(const uint4* from, int lane) {
    for (int k = 0; k < 3; ++k) word[k] = from[32 * k + lane];
  }
  template <class F> __device__ void each(F f) {
#pragma unroll
    for (int k = 0; k < 12; ++k) f(reinterpret_cast<__nv_bfloat162*>(word)[k], k);
  }
};
__device__ float lanes_sum(float v) {
  for (int k = 1; k < 32; k *= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
  return v;
}
extern "C" __global__ void modulated_norm(const uint4* x, const uint4* scale, const uint4* shift, uint4* y, int tokens,
                                          int rows) {
  const int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x, image = row / tokens;
  if (row >= rows) return;
  Words mine, by, more;
  mine.fetch(x + 96 * (size_t)row, lane);
  by.fetch(scale + 96 * image, lane);
  more.fetch(shift + 96 * image, lane);
  float sum = 0, squares = 0;
  mine.each([&](__nv_bfloat162& v, int) { sum += __low2float(v) + __high2float(v); });
  const float mean = lanes_sum(sum) / 768;
  mine.each([&](__nv_bfloat162& v, int) {
    const float a = __low2float(v) - mean, b = __high2float(v) - mean;
    squares += a * a + b * b;
  });
  const float factor = rsqrtf(lanes_sum(squares) / 768 + 1e-6f);
  mine.each([&](__nv_bfloat162& v, int k) {
    const float2 s = __bfloat1622float2(reinterpret_cast<__nv_bfloat162*>(by.word)[k]);
    const float2 m = __bfloat1622float2(reinterpret_cast<__nv_bfloat162*>(more.word)[k]);
    const float a = (__low2float(v) - mean) * factor, b = (__high2float(v) - mean) * factor;
    v = __floats2bfloat162_rn(a * (1 + s.x) + m.x, b * (1 + s.y) + m.y);
  });
  for (int k = 0; k < 3; ++k) y[96 * (size_t)row + 32 * k + lane] = mine.word[k];
}

// Attention of queries to keys before them, heads of 64 halves, by tensor cores: 64 queries a block, 16 a warp, 32 keys
// at a time; what has been summed waits in shared memory and is scaled down as larger scores come.
extern "C" __global__ void causal_tiles(const __half* q, const __half* k, const __half* v, __half* y, int n) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) __half keys[32][72], values[32][72], part[4][16][40];
  __shared__ __align__(32) float score[4][16][36], sum[4][16][68];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, row = lane / 2, side = lane % 2;
  const int first = blockIdx.x * 64 + 16 * warp;
  const size_t head = (size_t)blockIdx.y * n * 64;
  fragment<matrix_a, 16, 16, 16, __half, row_major> asked[4];
  for (int d = 0; d < 4; ++d) load_matrix_sync(asked[d], q + head + first * 64 + 16 * d, 64);
  for (int d = 0; d < 32; ++d) sum[warp][row][32 * side + d] = 0;
  float most = -1e30f, all = 0;
  for (int start = 0; start < blockIdx.x * 64 + 64; start += 32) {
    for (int word = t; word < 256; word += 128) {
      const int at = word / 8, d = word % 8 * 8;
      *reinterpret_cast<uint4*>(&keys[at][d]) = *reinterpret_cast<const uint4*>(k + head + (start + at) * 64 + d);
      *reinterpret_cast<uint4*>(&values[at][d]) = *reinterpret_cast<const uint4*>(v + head + (start + at) * 64 + d);
    }
    __syncthreads();
    if (start <= first + 15) {
      for (int piece = 0; piece < 2; ++piece) {
        fragment<accumulator, 16, 16, 16, float> found;
        fill_fragment(found, 0.0f);
        for (int d = 0; d < 4; ++d) {
          fragment<matrix_b, 16, 16, 16, __half, col_major> other;
          load_matrix_sync(other, &keys[16 * piece][16 * d], 72);
          mma_sync(found, asked[d], other, found);
        }
        store_matrix_sync(&score[warp][0][16 * piece], found, 36, mem_row_major);
      }
      __syncwarp();
      float mine[16], top = most;
      for (int e = 0; e < 16; ++e) {
        const int key = start + 16 * side + e;
        mine[e] = key <= first + row ? score[warp][row][16 * side + e] * 0.125f : -1e30f;
        top = fmaxf(top, mine[e]);
      }
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
      const float shrink = __expf(most - top);
      float more = 0;
      for (int e = 0; e < 16; ++e) {
        const float p = __expf(mine[e] - top);
        more += p;
        part[warp][row][16 * side + e] = __float2half_rn(p);
      }
      all = all * shrink + more + __shfl_xor_sync(0xffffffffu, more, 1);
      most = top;
      for (int d = 0; d < 32; ++d) sum[warp][row][32 * side + d] *= shrink;
      __syncwarp();
      for (int d = 0; d < 4; ++d) {
        fragment<accumulator, 16, 16, 16, float> found;
        load_matrix_sync(found, &sum[warp][0][16 * d], 68, mem_row_major);
        for (int piece = 0; piece < 2; ++piece) {
          fragment<matrix_a, 16, 16, 16, __half, row_major> weights;
          fragment<matrix_b, 16, 16, 16, __half, row_major> other;
          load_matrix_sync(weights, &part[warp][0][16 * piece], 40);
          load_matrix_sync(other, &values[16 * piece][16 * d], 72);
          mma_sync(found, weights, other, found);
        }
        store_matrix_sync(&sum[warp][0][16 * d], found, 68, mem_row_major);
      }
    }
    __syncthreads();
  }
  const float by = 1 / all;
  for (int d = 0; d < 32; ++d)
    y[head + (first + row) * 64 + 32 * side + d] = __float2half_rn(sum[warp][row][32 * side + d] * by);
}

// Weights of five bits in blocks of 32, 22 bytes each: a factor in 1/4096, the high bits, the low ones; two a thread.
struct Fives {
  short factor;
  uchar high[4], low[16];
};
extern "C" __global__ void five_bits(const Fives* blocks, __half* y, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x, k = at % 16;
  if (at / 16 >= n) return;
  const Fives& mine = blocks[at / 16];
  uint high = 0;
  memcpy(&high, mine.high, 4);
  const float by = mine.factor * (1.0f / 4096);
  const int a = (mine.low[k] & 15) | (high >> k & 1) << 4, b = mine.low[k] >> 4 | (high >> (k + 16) & 1) << 4;
  y[at / 16 * 32 + k] = __float2half(by * (a - 16));
  y[at / 16 * 32 + k + 16] = __float2half(by * (b - 16));
}

// New keys and values of eight heads of 64 bf16 go to their slots, 16 of which are a page: keys in pieces of eight with
// the slots in between, values by element (as servers of language models keep them).
extern "C" __global__ void to_slots(const ushort* key, const ushort* value, ushort* keys, ushort* values,
                                    const int* slot) {
  const size_t token = blockIdx.x, page = slot[token] / 16;
  const int place = slot[token] % 16;
  for (int k = threadIdx.x; k < 512; k += blockDim.x) {
    const int head = k / 64, d = k % 64;
    keys[((page * 8 + head) * 8 + d / 8) * 128 + place * 8 + d % 8] = key[token * 512 + k];
    values[((page * 8 + head) * 64 + d) * 16 + place] = value[token * 512 + k];
  }
}
