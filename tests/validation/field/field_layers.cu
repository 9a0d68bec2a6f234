// Layers of neural networks, as people write them (launches: launches.toml).
#include <cuda_fp16.h>
using uint = unsigned;

__device__ float warp_sum(float v) {
#pragma unroll
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}
// RMS norm of rows of halves, a block a row, two numbers at a time.
extern "C" __global__ void rms_norm(const __half2* x, const __half2* weight, __half2* y, int n) {
  __shared__ float sums[8];
  const __half2* row = x + (size_t)blockIdx.x * (n / 2);
  float s = 0;
  for (int i = threadIdx.x; i < n / 2; i += 256) { float2 v = __half22float2(row[i]); s += v.x * v.x + v.y * v.y; }
  s = warp_sum(s);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = s;
  __syncthreads();
  s = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) s += sums[w];
  float scale = rsqrtf(s / n + 1e-6f);
  for (int i = threadIdx.x; i < n / 2; i += 256) {
    float2 v = __half22float2(row[i]), w = __half22float2(weight[i]);
    y[(size_t)blockIdx.x * (n / 2) + i] = __floats2half2_rn(v.x * scale * w.x, v.y * scale * w.y);
  }
}
// SwiGLU: gate and up lie side by side in a row of 2 n halves; 8 halves a thread.
extern "C" __global__ void swiglu(const uint4* x, uint4* y, int n) {
  int row = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x, each = n / 8;
  if (i >= each) return;
  uint4 gate = x[(size_t)row * 2 * each + i], up = x[(size_t)row * 2 * each + each + i], out;
  const __half2* g = (const __half2*)&gate;
  const __half2* u = (const __half2*)&up;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float2 a = __half22float2(g[k]), b = __half22float2(u[k]);
    ((__half2*)&out)[k] = __floats2half2_rn(a.x / (1 + __expf(-a.x)) * b.x, a.y / (1 + __expf(-a.y)) * b.y);
  }
  y[(size_t)row * each + i] = out;
}
__device__ float gelu(float v) { return 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))); }
extern "C" __global__ void gelu_bias(const float4* x, const float4* bias, float4* y, int columns, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = x[i], b = bias[i % columns];
    y[i] = make_float4(gelu(v.x + b.x), gelu(v.y + b.y), gelu(v.z + b.z), gelu(v.w + b.w));
  }
}
// Attention with the softmax taken along: 4 queries a block, a warp each; 32 keys of 64 numbers at a time.
extern "C" __global__ void attention_online(const float* q, const float* k, const float* v, float* out, int n) {
  __shared__ float keys[32][65], values[32][64];
  int lane = threadIdx.x, warp = threadIdx.y, t = warp * 32 + lane, row = blockIdx.x * 4 + warp;
  float q0 = q[row * 64 + lane], q1 = q[row * 64 + 32 + lane], top = -1e30f, sum = 0, a0 = 0, a1 = 0;
  for (int base = 0; base < n; base += 32) {
    __syncthreads();
    for (int e = t; e < 32 * 64; e += 128) {
      keys[e >> 6][e & 63] = k[(size_t)base * 64 + e];
      values[e >> 6][e & 63] = v[(size_t)base * 64 + e];
    }
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int d = 0; d < 32; ++d) s += __shfl_sync(~0u, q0, d) * keys[lane][d] + __shfl_sync(~0u, q1, d) * keys[lane][d + 32];
    s *= 0.125f;
    float highest = s;
    for (int d = 16; d; d /= 2) highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, d));
    highest = fmaxf(top, highest);
    float old = expf(top - highest), p = expf(s - highest);
    top = highest;
    sum = sum * old + warp_sum(p);
    a0 *= old; a1 *= old;
#pragma unroll 8
    for (int j = 0; j < 32; ++j) {
      float w = __shfl_sync(~0u, p, j);
      a0 += w * values[j][lane]; a1 += w * values[j][lane + 32];
    }
  }
  out[row * 64 + lane] = a0 / sum;
  out[row * 64 + 32 + lane] = a1 / sum;
}
// Depthwise 3 x 3 convolution: a channel a block layer, a tile with its rim in shared memory.
extern "C" __global__ void depthwise(const float* x, const float* weight, float* y, int h, int w) {
  __shared__ float s[10][34], own[9];
  int c = blockIdx.z, x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, t = threadIdx.y * 32 + threadIdx.x;
  const float* from = x + (size_t)c * h * w;
  if (t < 9) own[t] = weight[c * 9 + t];
  for (int e = t; e < 340; e += 256) {
    int r = y0 + e / 34 - 1, k = x0 + e % 34 - 1;
    s[e / 34][e % 34] = r >= 0 && r < h && k >= 0 && k < w ? from[r * w + k] : 0;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 9; ++i) sum += s[threadIdx.y + i / 3][threadIdx.x + i % 3] * own[i];
  int r = y0 + threadIdx.y, k = x0 + threadIdx.x;
  if (r < h && k < w) y[(size_t)c * h * w + r * w + k] = sum;
}
// Convolution 5 x 5 of 4 channels to 8 with weights in constant memory; a thread makes two neighbours.
__constant__ float taps[8][4][5][5] = {{{{0.5f, -0.25f}, {1.0f, 0.125f, 2.0f}}, {{0.75f}}}, {{{-1.0f, 0.5f}}, {{0.25f}}}};
extern "C" __global__ void conv_5x5(const float* x, float* y, int h, int w) {
  int k = 2 * (blockIdx.x * blockDim.x + threadIdx.x), r = blockIdx.y * blockDim.y + threadIdx.y, o = blockIdx.z;
  if (k + 1 >= w - 4 + 1 || r >= h - 4) return;
  float a = 0, b = 0;
  for (int c = 0; c < 4; ++c)
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      const float* row = x + ((size_t)c * h + r + i) * w + k;
      float v[6];
#pragma unroll
      for (int j = 0; j < 6; ++j) v[j] = row[j];
#pragma unroll
      for (int j = 0; j < 5; ++j) { a += v[j] * taps[o][c][i][j]; b += v[j + 1] * taps[o][c][i][j]; }
    }
  y[((size_t)o * (h - 4) + r) * (w - 4) + k] = a;
  y[((size_t)o * (h - 4) + r) * (w - 4) + k + 1] = b;
}
// Patches of 3 x 3 with rim as columns: one thread a number.
extern "C" __global__ void im2col(const float* x, float* y, int channels, int h, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, all = channels * 9 * h * w;
  if (i >= all) return;
  int k = i % w, r = i / w % h, tap = i / (w * h) % 9, c = i / (w * h * 9);
  int sr = r + tap / 3 - 1, sk = k + tap % 3 - 1;
  y[i] = (unsigned)sr < (unsigned)h && (unsigned)sk < (unsigned)w ? x[((size_t)c * h + sr) * w + sk] : 0.0f;
}
// Greatest of 3 x 3 at every second place, and where it stood.
extern "C" __global__ void max_pool(const float* x, float* y, unsigned char* where, int h, int w) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
  int oh = h / 2, ow = w / 2;
  if (k >= ow || r >= oh) return;
  float best = -3e38f;
  int at = 0;
  for (int i = 0; i < 9; ++i) {
    int sr = 2 * r + i / 3 - 1, sk = 2 * k + i % 3 - 1;
    if (sr < 0 || sk < 0 || sr >= h || sk >= w) continue;
    float v = x[((size_t)c * h + sr) * w + sk];
    if (v > best) { best = v; at = i; }
  }
  y[((size_t)c * oh + r) * ow + k] = best;
  where[((size_t)c * oh + r) * ow + k] = at;
}
extern "C" __global__ void bilinear(const unsigned char* x, unsigned char* y, int h, int w, int oh, int ow) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (k >= ow || r >= oh) return;
  float fy = fmaxf((r + 0.5f) * h / oh - 0.5f, 0.0f), fx = fmaxf((k + 0.5f) * w / ow - 0.5f, 0.0f);
  int y0 = fy, x0 = fx, y1 = min(y0 + 1, h - 1), x1 = min(x0 + 1, w - 1);
  float dy = fy - y0, dx = fx - x0;
  for (int c = 0; c < 3; ++c) {
    float top = x[(y0 * w + x0) * 3 + c] * (1 - dx) + x[(y0 * w + x1) * 3 + c] * dx;
    float low = x[(y1 * w + x0) * 3 + c] * (1 - dx) + x[(y1 * w + x1) * 3 + c] * dx;
    y[((size_t)r * ow + k) * 3 + c] = (unsigned char)(top * (1 - dy) + low * dy + 0.5f);
  }
}
// Rotary embedding of pairs, angle by position: sine and cosine with range reduction.
extern "C" __global__ void rotary(float2* x, const int* position, const float* speed, int pairs, int rows) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, p = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || p >= pairs) return;
  float s, c;
  sincosf(position[row] * speed[p], &s, &c);
  float2 v = x[(size_t)row * pairs + p];
  x[(size_t)row * pairs + p] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
// A step of Adam: five arrays, roots and quotients rounded as IEEE has it.
extern "C" __global__ void adam(float* p, float* m, float* v, const float* g, float rate, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = g[i], first = 0.9f * m[i] + 0.1f * a, second = 0.999f * v[i] + 0.001f * a * a;
  m[i] = first;
  v[i] = second;
  p[i] -= rate * (first / 0.271f) / (sqrtf(second / 0.002997f) + 1e-8f);
}
// Place of the greatest number of each row, a warp a row; the first of equals.
extern "C" __global__ void row_argmax(const float* x, int* place, int rows, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31, at = 0x7fffffff;
  if (row >= rows) return;
  float best = -3e38f;
  for (int i = lane; i < n; i += 32) { float v = x[(size_t)row * n + i]; if (v > best) { best = v; at = i; } }
  for (int d = 16; d; d /= 2) {
    float other = __shfl_down_sync(~0u, best, d);
    int there = __shfl_down_sync(~0u, at, d);
    if (other > best || (other == best && there < at)) { best = other; at = there; }
  }
  if (lane == 0) place[row] = at;
}
// Sum of the table's rows that each bag names; bag b has the names from b * 4 + first[b] on.
extern "C" __global__ void embedding_bag(const float* table, const int* names, const int* first, float* y, int width) {
  int b = blockIdx.x;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    float sum = 0;
    for (int e = b * 4 + first[b]; e < (b + 1) * 4 + first[b + 1]; ++e) sum += table[(size_t)names[e] * width + c];
    y[(size_t)b * width + c] = sum;
  }
}
// Loss of rows of logits: log of the sum of exponentials less the logit of the label.
extern "C" __global__ void cross_entropy(const float* x, const int* label, float* loss, int n) {
  __shared__ float part[4];
  const float* row = x + (size_t)blockIdx.x * n;
  float top = -3e38f, sum = 0;
  for (int i = threadIdx.x; i < n; i += 128) {
    float v = row[i];
    if (v > top) { sum *= expf(top - v); top = v; }
    sum += expf(v - top);
  }
  float highest = top;
  for (int d = 16; d; d /= 2) highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, d));
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = highest;
  __syncthreads();
  highest = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
  sum = warp_sum(sum * expf(top - highest));
  __syncthreads();
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(part[0] + part[1] + part[2] + part[3]) + highest - row[label[blockIdx.x]];
}
