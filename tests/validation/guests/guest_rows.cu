// Guests, row by row: kernels as others would bring them (launches: launches.toml).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
using uint = unsigned;
using ushort = unsigned short;
using ull = unsigned long long;
using bf16 = __nv_bfloat16;

// The four largest of each row of 256 floats, with their places.  A key has the number above and the place below, so
// that of equal ones the first wins.
__device__ ull key_of(float v, uint place) {
  uint b = __float_as_uint(v);
  b ^= (uint)((int)b >> 31) | 0x80000000u;
  return (ull)b << 32 | (0xffffffffu - place);
}
__device__ void keep(ull (&best)[4], ull key) {
  if (key <= best[3]) return;
  best[3] = key;
#pragma unroll
  for (int k = 3; k > 0; --k)
    if (best[k] > best[k - 1]) {
      ull other = best[k];
      best[k] = best[k - 1];
      best[k - 1] = other;
    }
}
__device__ void tell(ull key, float* values, int* places, int at) {
  uint b = (uint)(key >> 32);
  b = b & 0x80000000u ? b ^ 0x80000000u : ~b;
  values[at] = __uint_as_float(b);
  places[at] = (int)(0xffffffffu - (uint)key);
}
__device__ ull largest_of_warp(ull v) {
#pragma unroll
  for (int k = 16; k; k /= 2) {
    ull other = __shfl_xor_sync(~0u, v, k);
    v = other > v ? other : v;
  }
  return v;
}
// A thread a row.
extern "C" __global__ void top_thread(const float* x, float* values, int* places, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  ull best[4] = {};
  for (int k = 0; k < 256; ++k) keep(best, key_of(x[r * 256 + k], k));
#pragma unroll
  for (int k = 0; k < 4; ++k) tell(best[k], values, places, 4 * r + k);
}
// A warp a row: each lane has its four, and the largest of the warp goes four times.
extern "C" __global__ void top_warp(const float* x, float* values, int* places, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (r >= rows) return;
  ull best[4] = {};
#pragma unroll
  for (int k = 0; k < 8; ++k) keep(best, key_of(x[r * 256 + 32 * k + lane], 32 * k + lane));
  for (int k = 0; k < 4; ++k) {
    ull most = largest_of_warp(best[0]);
    if (best[0] == most) {
      tell(most, values, places, 4 * r + k);
      best[0] = best[1]; best[1] = best[2]; best[2] = best[3]; best[3] = 0;
    }
  }
}
// A block a row: each warp gives its four to shared memory, the first warp takes the four of those.
extern "C" __global__ void top_block(const float* x, float* values, int* places, int rows) {
  __shared__ ull own[32];
  int r = blockIdx.x, t = threadIdx.x, lane = t & 31;
  ull mine = key_of(x[r * 256 + t], t);
  for (int k = 0; k < 4; ++k) {
    ull most = largest_of_warp(mine);
    if (mine == most) { own[t / 32 * 4 + k] = most; mine = 0; }
  }
  __syncthreads();
  if (t >= 32) return;
  mine = own[lane];
  for (int k = 0; k < 4; ++k) {
    ull most = largest_of_warp(mine);
    if (mine == most) { tell(most, values, places, 4 * r + k); mine = 0; }
  }
}

// Rows of 1024 bf16 become bytes from -127 to 127 and a scale.
__device__ float of_low(uint w) { return __uint_as_float(w << 16); }
__device__ float of_high(uint w) { return __uint_as_float(w & 0xffff0000u); }
__device__ uint byte_of(float v, float factor) { return (uint)__float2int_rn(v * factor) & 255u; }
__device__ float warp_max(float v) {
#pragma unroll
  for (int k = 16; k; k /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, k));
  return v;
}
// A block a row, a tree with a barrier each step, and the row read twice.
extern "C" __global__ void quantise_tree(const bf16* x, signed char* y, float* scales, int rows) {
  __shared__ float s[256];
  int t = threadIdx.x, r = blockIdx.x;
  float most = 0;
  for (int k = t; k < 1024; k += 256) most = fmaxf(most, fabsf(__bfloat162float(x[r * 1024 + k])));
  s[t] = most;
  __syncthreads();
  for (int k = 128; k; k /= 2) {
    if (t < k) s[t] = fmaxf(s[t], s[t + k]);
    __syncthreads();
  }
  float factor = 127.0f / s[0];
  for (int k = t; k < 1024; k += 256)
    y[r * 1024 + k] = (signed char)__float2int_rn(__bfloat162float(x[r * 1024 + k]) * factor);
  if (t == 0) scales[r] = s[0] / 127.0f;
}
// A warp a row, two at once, and the row read twice.
extern "C" __global__ void quantise_warp(const uint* x, ushort* y, float* scales, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (r >= rows) return;
  float most = 0;
  for (int k = lane; k < 512; k += 32) {
    uint w = x[r * 512 + k];
    most = fmaxf(most, fmaxf(fabsf(of_low(w)), fabsf(of_high(w))));
  }
  most = warp_max(most);
  float factor = 127.0f / most;
  for (int k = lane; k < 512; k += 32) {
    uint w = x[r * 512 + k];
    y[r * 512 + k] = (ushort)(byte_of(of_low(w), factor) | byte_of(of_high(w), factor) << 8);
  }
  if (lane == 0) scales[r] = most / 127.0f;
}
// A block of 128 a row: eight a thread, read once and kept.
extern "C" __global__ void quantise_kept(const uint4* x, uint2* y, float* scales, int rows) {
  __shared__ float s[4];
  int t = threadIdx.x, r = blockIdx.x;
  uint4 v = x[r * 128 + t];
  uint w[4] = {v.x, v.y, v.z, v.w};
  float most = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) most = fmaxf(most, fmaxf(fabsf(of_low(w[k])), fabsf(of_high(w[k]))));
  most = warp_max(most);
  if ((t & 31) == 0) s[t / 32] = most;
  __syncthreads();
  most = fmaxf(fmaxf(s[0], s[1]), fmaxf(s[2], s[3]));
  float factor = 127.0f / most;
  uint b[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) b[k] = byte_of(of_low(w[k]), factor) | byte_of(of_high(w[k]), factor) << 8;
  y[r * 128 + t] = make_uint2(b[0] | b[1] << 16, b[2] | b[3] << 16);
  if (t == 0) scales[r] = most / 127.0f;
}

// Walsh-Hadamard transforms of rows of 256.  A block a row, a number a thread, a barrier each step.
extern "C" __global__ void hadamard_barriers(const float* x, float* y, int rows) {
  __shared__ float s[2][256];
  int t = threadIdx.x, from = 0;
  s[0][t] = x[blockIdx.x * 256 + t];
  for (int k = 1; k < 256; k *= 2) {
    __syncthreads();
    float a = s[from][t], b = s[from][t ^ k];
    s[1 - from][t] = t & k ? b - a : a + b;
    from = 1 - from;
  }
  y[blockIdx.x * 256 + t] = s[from][t];
}
// A block a row, two numbers a thread.
extern "C" __global__ void hadamard_pairs(const float* x, float* y, int rows) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  s[t + 128] = x[blockIdx.x * 256 + t + 128];
  for (int k = 1; k < 256; k *= 2) {
    __syncthreads();
    int at = (t & ~(k - 1)) * 2 | (t & (k - 1));
    float a = s[at], b = s[at + k];
    s[at] = a + b;
    s[at + k] = a - b;
  }
  __syncthreads();
  y[blockIdx.x * 256 + t] = s[t];
  y[blockIdx.x * 256 + t + 128] = s[t + 128];
}
__device__ void across_lanes(float (&v)[8], int lane) {
#pragma unroll
  for (int k = 1; k < 32; k *= 2)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float other = __shfl_xor_sync(~0u, v[j], k);
      v[j] = lane & k ? other - v[j] : v[j] + other;
    }
}
__device__ void within(float (&v)[8]) {
#pragma unroll
  for (int k = 1; k < 8; k *= 2)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (!(j & k)) {
        float a = v[j], b = v[j + k];
        v[j] = a + b;
        v[j + k] = a - b;
      }
}
// A warp a row: eight numbers a lane, 32 apart.
extern "C" __global__ void hadamard_lanes(const float* x, float* y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (r >= rows) return;
  float v[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) v[j] = x[r * 256 + 32 * j + lane];
  within(v);
  across_lanes(v, lane);
#pragma unroll
  for (int j = 0; j < 8; ++j) y[r * 256 + 32 * j + lane] = v[j];
}
// A warp a row: eight neighbours a lane.
extern "C" __global__ void hadamard_fours(const float4* x, float4* y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (r >= rows) return;
  float4 a = x[r * 64 + 2 * lane], b = x[r * 64 + 2 * lane + 1];
  float v[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  within(v);
  across_lanes(v, lane);
  y[r * 64 + 2 * lane] = make_float4(v[0], v[1], v[2], v[3]);
  y[r * 64 + 2 * lane + 1] = make_float4(v[4], v[5], v[6], v[7]);
}

__device__ float warp_sum(float v) {
#pragma unroll
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  return v;
}
// What a layer adds to its rows, and the rows by their root mean square.  A block of 256 a row.
extern "C" __global__ void residual_norm(const __nv_bfloat162* x, __nv_bfloat162* rest, const __nv_bfloat162* weight,
                                         __nv_bfloat162* y, int n) {
  __shared__ float sums[8];
  int t = threadIdx.x;
  size_t row = (size_t)blockIdx.x * (n / 2);
  float s = 0;
  for (int k = t; k < n / 2; k += 256) {
    float2 a = __bfloat1622float2(x[row + k]), b = __bfloat1622float2(rest[row + k]);
    a.x += b.x;
    a.y += b.y;
    rest[row + k] = __floats2bfloat162_rn(a.x, a.y);
    s += a.x * a.x + a.y * a.y;
  }
  s = warp_sum(s);
  if ((t & 31) == 0) sums[t / 32] = s;
  __syncthreads();
  s = 0;
  for (int k = 0; k < 8; ++k) s += sums[k];
  float factor = rsqrtf(s / n + 1e-5f);
  for (int k = t; k < n / 2; k += 256) {
    float2 a = __bfloat1622float2(rest[row + k]), w = __bfloat1622float2(weight[k]);
    y[row + k] = __floats2bfloat162_rn(a.x * factor * w.x, a.y * factor * w.y);
  }
}
// Scores of 512 keys a query, of which each query sees those up to its own place.  A warp a query.
extern "C" __global__ void masked_softmax(const __half2* scores, __half2* y, float scale, int queries) {
  int q = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31, seen = q & 511;
  if (q >= queries) return;
  float2 v[8];
  float most = -1e30f, sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    int at = 2 * (32 * k + lane);
    float2 s = at <= seen ? __half22float2(scores[q * 256 + 32 * k + lane]) : make_float2(-1e30f, -1e30f);
    v[k] = make_float2(s.x * scale, at + 1 <= seen ? s.y * scale : -1e30f);
    most = fmaxf(most, fmaxf(v[k].x, v[k].y));
  }
  most = warp_max(most);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    v[k] = make_float2(__expf(v[k].x - most), __expf(v[k].y - most));
    sum += v[k].x + v[k].y;
  }
  sum = 1.0f / warp_sum(sum);
#pragma unroll
  for (int k = 0; k < 8; ++k) y[q * 256 + 32 * k + lane] = __floats2half2_rn(v[k].x * sum, v[k].y * sum);
}
// One step of the cells of a long short-term memory, `width` a sequence: gates are in, forget, new and out.
__device__ float logistic(float v) { return 1.0f / (1.0f + expf(-v)); }
extern "C" __global__ void lstm_cell(const float* gates, const float* bias, float* cells, float* out, int width, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = i % width;
  const float* g = gates + (size_t)(i / width) * 4 * width + at;
  float in = logistic(g[0] + bias[at]), forget = logistic(g[width] + bias[at + width]);
  float fresh = tanhf(g[2 * width] + bias[at + 2 * width]), shown = logistic(g[3 * width] + bias[at + 3 * width]);
  float cell = forget * cells[i] + in * fresh;
  cells[i] = cell;
  out[i] = shown * tanhf(cell);
}
