// Visitors: layers of networks, forwards and backwards (launches: launches.toml).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
using uint = unsigned;
using uchar = unsigned char;

__device__ float over_warp(float v) {
#pragma unroll
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  return v;
}
__device__ float most_of_warp(float v) {
#pragma unroll
  for (int k = 16; k; k /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, k));
  return v;
}

// What a layer norm hands back to its input: rows of 1024, g = dy w, dx = rstd (g - mean g - xhat mean(g xhat)).
// A block a row, sums by a tree in shared memory; everything is read twice.
extern "C" __global__ void norm_back_tree(const float* dy, const float* x, const float* weight, const float* mean,
                                          const float* rstd, float* dx) {
  __shared__ float s[256], u[256];
  int row = blockIdx.x, t = threadIdx.x;
  float m = mean[row], r = rstd[row], a = 0, b = 0;
  for (int c = t; c < 1024; c += 256) {
    float g = dy[row * 1024 + c] * weight[c];
    a += g;
    b += g * ((x[row * 1024 + c] - m) * r);
  }
  s[t] = a;
  u[t] = b;
  __syncthreads();
  for (int k = 128; k; k /= 2) {
    if (t < k) { s[t] += s[t + k]; u[t] += u[t + k]; }
    __syncthreads();
  }
  a = s[0] / 1024;
  b = u[0] / 1024;
  for (int c = t; c < 1024; c += 256)
    dx[row * 1024 + c] = r * (dy[row * 1024 + c] * weight[c] - a - (x[row * 1024 + c] - m) * r * b);
}
// A warp a row.
extern "C" __global__ void norm_back_warp(const float* dy, const float* x, const float* weight, const float* mean,
                                          const float* rstd, float* dx) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  float m = mean[row], r = rstd[row], a = 0, b = 0;
  for (int c = lane; c < 1024; c += 32) {
    float g = dy[row * 1024 + c] * weight[c];
    a += g;
    b += g * ((x[row * 1024 + c] - m) * r);
  }
  a = over_warp(a) / 1024;
  b = over_warp(b) / 1024;
  for (int c = lane; c < 1024; c += 32)
    dx[row * 1024 + c] = r * (dy[row * 1024 + c] * weight[c] - a - (x[row * 1024 + c] - m) * r * b);
}
// A warp a row, four at once, kept in registers.
extern "C" __global__ void norm_back_kept(const float4* dy, const float4* x, const float4* weight, const float* mean,
                                          const float* rstd, float4* dx) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  float m = mean[row], r = rstd[row], a = 0, b = 0;
  float4 g[8], h[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    float4 w = weight[lane + 32 * k], v = x[row * 256 + lane + 32 * k];
    g[k] = dy[row * 256 + lane + 32 * k];
    g[k].x *= w.x; g[k].y *= w.y; g[k].z *= w.z; g[k].w *= w.w;
    h[k] = make_float4((v.x - m) * r, (v.y - m) * r, (v.z - m) * r, (v.w - m) * r);
    a += g[k].x + g[k].y + g[k].z + g[k].w;
    b += g[k].x * h[k].x + g[k].y * h[k].y + g[k].z * h[k].z + g[k].w * h[k].w;
  }
  a = over_warp(a) / 1024;
  b = over_warp(b) / 1024;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    dx[row * 256 + lane + 32 * k] = make_float4(r * (g[k].x - a - h[k].x * b), r * (g[k].y - a - h[k].y * b),
                                                r * (g[k].z - a - h[k].z * b), r * (g[k].w - a - h[k].w * b));
}
// A block a row, four elements a thread, one barrier.
extern "C" __global__ void norm_back_block(const float4* dy, const float4* x, const float4* weight, const float* mean,
                                           const float* rstd, float4* dx) {
  __shared__ float2 s[8];
  int row = blockIdx.x, t = threadIdx.x;
  float m = mean[row], r = rstd[row];
  float4 g = dy[row * 256 + t], w = weight[t], h = x[row * 256 + t];
  g.x *= w.x; g.y *= w.y; g.z *= w.z; g.w *= w.w;
  h = make_float4((h.x - m) * r, (h.y - m) * r, (h.z - m) * r, (h.w - m) * r);
  float a = over_warp(g.x + g.y + g.z + g.w), b = over_warp(g.x * h.x + g.y * h.y + g.z * h.z + g.w * h.w);
  if (t % 32 == 0) s[t / 32] = make_float2(a, b);
  __syncthreads();
  a = b = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) { a += s[k].x; b += s[k].y; }
  a /= 1024;
  b /= 1024;
  dx[row * 256 + t] =
      make_float4(r * (g.x - a - h.x * b), r * (g.y - a - h.y * b), r * (g.z - a - h.z * b), r * (g.w - a - h.w * b));
}

// Gradient of cross entropy: softmax of a row of n halves, less one at the target, by a scale.
extern "C" __global__ void entropy_backward(const __half2* logits, const int* targets, __half2* d, float scale, int n) {
  __shared__ float most[8], sums[8];
  const __half2* row = logits + (size_t)blockIdx.x * (n / 2);
  float high = -1e30f, sum = 0;
  for (int c = threadIdx.x; c < n / 2; c += 256) {
    float2 v = __half22float2(row[c]);
    float now = fmaxf(high, fmaxf(v.x, v.y));
    sum = sum * __expf(high - now) + __expf(v.x - now) + __expf(v.y - now);
    high = now;
  }
  float top = most_of_warp(high);
  sum = over_warp(sum * __expf(high - top));
  if (threadIdx.x % 32 == 0) { most[threadIdx.x / 32] = top; sums[threadIdx.x / 32] = sum; }
  __syncthreads();
  high = -1e30f;
  for (int k = 0; k < 8; ++k) high = fmaxf(high, most[k]);
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += sums[k] * __expf(most[k] - high);
  float by = scale / sum;
  int target = targets[blockIdx.x];
  for (int c = threadIdx.x; c < n / 2; c += 256) {
    float2 v = __half22float2(row[c]);
    float a = __expf(v.x - high) * by, b = __expf(v.y - high) * by;
    if (2 * c == target) a -= scale;
    if (2 * c + 1 == target) b -= scale;
    d[(size_t)blockIdx.x * (n / 2) + c] = __floats2half2_rn(a, b);
  }
}

// Dropout of a fifth by Philox's ten rounds, four halves a thread, on top of what goes past the layer.
extern "C" __global__ void dropout_residual(const uint2* x, const uint2* past, uint2* y, uint seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= n) return;
  uint c[4] = {(uint)i, 0, 0, 0}, key[2] = {seed, 0xcafe};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    uint low0 = 0xD2511F53u * c[0], high0 = __umulhi(0xD2511F53u, c[0]);
    uint low1 = 0xCD9E8D57u * c[2], high1 = __umulhi(0xCD9E8D57u, c[2]);
    c[0] = high1 ^ c[1] ^ key[0];
    c[2] = high0 ^ c[3] ^ key[1];
    c[1] = low1;
    c[3] = low0;
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  uint2 v = x[i], p = past[i];
  __half* h = (__half*)&v;
  __half* g = (__half*)&p;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float kept = c[k] >= 858993459u ? __half2float(h[k]) * 1.25f : 0.0f;
    g[k] = __float2half_rn(__half2float(g[k]) + kept);
  }
  y[i] = p;
}

// Queries of `heads` heads of 128 in bf16, turned in place by where their token stands: elements d and d + 64 are a pair.
extern "C" __global__ void rotary_pairs(__nv_bfloat162* q, const float2* turns, const int* places, int heads) {
  int token = blockIdx.x, t = threadIdx.x & 31;
  const float2* turn = turns + places[token] * 64;
  float2 a = turn[2 * t], b = turn[2 * t + 1];
  for (int head = threadIdx.x / 32; head < heads; head += blockDim.x / 32) {
    __nv_bfloat162* at = q + ((size_t)token * heads + head) * 64;
    float2 low = __bfloat1622float2(at[t]), high = __bfloat1622float2(at[t + 32]);
    at[t] = __floats2bfloat162_rn(low.x * a.x - high.x * a.y, low.y * b.x - high.y * b.y);
    at[t + 32] = __floats2bfloat162_rn(high.x * a.x + low.x * a.y, high.y * b.x + low.y * b.y);
  }
}

// Gradient of a gated GELU: y = gelu(a) b, where a row holds a and behind it b, n each.
__device__ void gated(float a, float b, float d, float& da, float& db) {
  float inner = 0.7978845608f * (a + 0.044715f * a * a * a), t = tanhf(inner);
  float slope = 0.5f * (1 + t) + 0.5f * a * (1 - t * t) * 0.7978845608f * (1 + 0.134145f * a * a);
  da = d * b * slope;
  db = d * 0.5f * a * (1 + t);
}
extern "C" __global__ void geglu_backward(const float2* x, const float2* dy, float2* dx, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (2 * c >= n) return;
  float2 a = x[(size_t)row * n + c], b = x[(size_t)row * n + n / 2 + c], d = dy[(size_t)row * (n / 2) + c], da, db;
  gated(a.x, b.x, d.x, da.x, db.x);
  gated(a.y, b.y, d.y, da.y, db.y);
  dx[(size_t)row * n + c] = da;
  dx[(size_t)row * n + n / 2 + c] = db;
}

// Group norm of pictures and SiLU: a block a group, which are 8 planes of `plane` numbers one behind the other.
extern "C" __global__ void group_norm_silu(const float4* x, const float* weight, const float* bias, float4* y, int plane) {
  __shared__ float s[16], u[16];
  size_t start = (size_t)blockIdx.x * 2 * plane;
  float sum = 0, squares = 0;
  for (int k = threadIdx.x; k < 2 * plane; k += 512) {
    float4 v = x[start + k];
    sum += v.x + v.y + v.z + v.w;
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  sum = over_warp(sum);
  squares = over_warp(squares);
  if (threadIdx.x % 32 == 0) { s[threadIdx.x / 32] = sum; u[threadIdx.x / 32] = squares; }
  __syncthreads();
  sum = over_warp(threadIdx.x % 32 < 16 ? s[threadIdx.x % 32] : 0.0f);
  squares = over_warp(threadIdx.x % 32 < 16 ? u[threadIdx.x % 32] : 0.0f);
  float mean = sum / (8 * plane), factor = rsqrtf(squares / (8 * plane) - mean * mean + 1e-5f);
  for (int k = threadIdx.x; k < 2 * plane; k += 512) {
    int channel = blockIdx.x % 32 * 8 + k / (plane / 4);
    float w = weight[channel] * factor, b = bias[channel] - mean * w;
    float4 v = x[start + k];
    v = make_float4(v.x * w + b, v.y * w + b, v.z * w + b, v.w * w + b);
    v.x /= 1 + __expf(-v.x);
    v.y /= 1 + __expf(-v.y);
    v.z /= 1 + __expf(-v.z);
    v.w /= 1 + __expf(-v.w);
    y[start + k] = v;
  }
}

// Gradients of an embedding, handed over as bytes: each token's 128 are added to the row of its word.
extern "C" __global__ void embedding_backward(const int* words, const signed char* d, float* table, int tokens) {
  int c = threadIdx.x & 127;
  for (int token = blockIdx.x * 2 + threadIdx.x / 128; token < tokens; token += gridDim.x * 2) {
    float g = d[(size_t)token * 128 + c];
    if (g != 0) atomicAdd(&table[(size_t)words[token] * 128 + c], g);
  }
}

// Which two of 64 experts a token goes to, with what weights, and how many tokens each expert gets; a warp a token.
extern "C" __global__ void expert_pairs(const float* logits, uchar2* chosen, float2* weights, int* load) {
  __shared__ int found[64];
  int lane = threadIdx.x & 31, token = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (threadIdx.x < 64) found[threadIdx.x] = 0;
  __syncthreads();
  float a = logits[token * 64 + lane], b = logits[token * 64 + 32 + lane], best[2];
  int who[2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    float v = a >= b ? a : b;
    int at = a >= b ? lane : lane + 32;
#pragma unroll
    for (int w = 16; w; w /= 2) {
      float other = __shfl_xor_sync(~0u, v, w);
      int there = __shfl_xor_sync(~0u, at, w);
      if (other > v || (other == v && there < at)) { v = other; at = there; }
    }
    best[k] = v;
    who[k] = at;
    if (at == lane) a = -1e30f;
    if (at == lane + 32) b = -1e30f;
  }
  if (lane == 0) {
    float second = __expf(best[1] - best[0]), sum = 1 + second;
    chosen[token] = make_uchar2((uchar)who[0], (uchar)who[1]);
    weights[token] = make_float2(1 / sum, second / sum);
    atomicAdd(&found[who[0]], 1);
    atomicAdd(&found[who[1]], 1);
  }
  __syncthreads();
  if (threadIdx.x < 64 && found[threadIdx.x]) atomicAdd(&load[threadIdx.x], found[threadIdx.x]);
}

// Running sums of rows of 1024 in double; a block a row, four numbers a thread.
extern "C" __global__ void row_cumsum(const float4* x, double2* y) {
  __shared__ double s[8];
  int t = threadIdx.x, lane = t & 31;
  size_t at = (size_t)blockIdx.x * 256 + t;
  float4 v = x[at];
  double a = v.x, b = a + v.y, c = b + v.z, d = c + v.w, sum = d;
#pragma unroll
  for (int k = 1; k < 32; k *= 2) {
    double below = __shfl_up_sync(~0u, sum, k);
    if (lane >= k) sum += below;
  }
  if (lane == 31) s[t / 32] = sum;
  __syncthreads();
  double start = sum - d;
  for (int k = 0; k < t / 32; ++k) start += s[k];
  y[2 * at] = make_double2(start + a, start + b);
  y[2 * at + 1] = make_double2(start + c, start + d);
}

// A filter of 7 x 7 for each of 64 channels, which lie together: a thread has two channels of a pixel; zeros around.
extern "C" __global__ void depthwise_7x7(const __half2* x, const __half2* weight, __half2* y, int w, int h) {
  int c = threadIdx.x, at = blockIdx.x * blockDim.y + threadIdx.y, row = blockIdx.y;
  float2 sum = make_float2(0, 0);
  for (int b = 0; b < 7; ++b) {
    int v = row + b - 3;
    if (v < 0 || v >= h) continue;
#pragma unroll
    for (int a = 0; a < 7; ++a) {
      int u = at + a - 3;
      if (u < 0 || u >= w) continue;
      float2 p = __half22float2(x[(v * w + u) * 32 + c]), f = __half22float2(weight[(b * 7 + a) * 32 + c]);
      sum.x += p.x * f.x;
      sum.y += p.y * f.y;
    }
  }
  y[(row * w + at) * 32 + c] = __floats2half2_rn(sum.x, sum.y);
}
