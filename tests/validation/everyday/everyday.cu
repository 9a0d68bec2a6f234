// Kernels as people write them every day, for `warplens validate`: results and counters beside a GPU's.
//
// /// warplens
// n = 65536
//
// [histogram]
// grid = 64
// block = 256
// args = ["random(0, 256) i32[n]", "zeros i32[256]", "n"]
//
// [histogram_warp]
// grid = 16
// block = 128
// args = ["random(0, 64) i32[n]", "zeros i32[64]", "n"]
//
// [softmax_rows]
// grid = 96
// block = 128
// args = ["random f32[96 * 500]", "empty f32[96 * 500]", "500"]
//
// [layernorm]
// grid = 40
// block = 256
// args = ["random f32[40 * 777]", "random f32[777]", "random f32[777]", "empty f32[40 * 777]", "777", "1e-5f"]
//
// [transpose_pad]
// grid = [7, 5]
// block = [32, 8]
// args = ["random f32[200 * 150]", "empty f32[200 * 150]", "200", "150"]
//
// [transpose_swizzle]
// grid = [8, 8]
// block = [32, 8]
// args = ["random f32[65536]", "empty f32[65536]", "256"]
//
// [sgemm_register]
// grid = [4, 3]
// block = 256
// args = ["random f32[192 * 100]", "random f32[100 * 256]", "zeros f32[192 * 256]", "192", "256", "100"]
//
// [spmv_vector]
// grid = 32
// block = 128
// args = ["arange(0, 23) i32[129]", "random(0, 1000) i32[3000]", "random f32[3000]", "random f32[1000]", "empty f32[128]", "128"]
//
// [mandelbrot]
// grid = [10, 10]
// block = [16, 16]
// args = ["empty i32[150 * 150]", "150", "150", "200"]
//
// [bitonic]
// grid = 8
// block = 256
// args = ["random(0, 100000) i32[4096]"]
//
// [radix_pass]
// grid = 12
// block = 256
// args = ["random(0, 1000000) i32[12 * 1024]", "zeros i32[16 * 12]", "empty i32[12 * 1024]", "8"]
//
// [scan_blelloch]
// grid = 20
// block = 256
// args = ["random(0, 10) i32[20 * 512]", "empty i32[20 * 512]"]
//
// [scan_warp]
// grid = 9
// block = 224
// args = ["random(0, 10) i32[2000]", "empty i32[2000]", "2000"]
//
// [life]
// grid = [5, 9]
// block = [32, 8]
// args = ["random(0, 2) u8[150 * 70]", "empty u8[150 * 70]", "150", "70"]
//
// [conv2d]
// grid = [9, 17]
// block = [16, 8]
// args = ["random f32[140 * 130]", "random f32[25]", "zeros f32[140 * 130]", "140", "130"]
//
// [nbody_step]
// grid = 4
// block = 128
// args = ["random f32x4[512]", "random f32x4[512]", "512", "0.01f"]
//
// [black_scholes]
// grid = 30
// block = 128
// args = ["random(5, 30) f32[3700]", "random(1, 100) f32[3700]", "random(0.25, 10) f32[3700]", "empty f32[3700]", "empty f32[3700]", "3700"]
//
// [xorshift_pi]
// grid = 8
// block = 96
// args = ["zeros i32[1]", "200"]
//
// [bfs_level]
// grid = 8
// block = 128
// args = ["arange(0, 7) i32[1025]", "random(0, 1024) i32[7168]", "random(0, 3) i32[1024]", "zeros i32[1]", "1", "1024"]
//
// [binary_search]
// grid = 16
// block = 128
// args = ["arange(0, 3) i32[10000]", "random(0, 30000) i32[2000]", "empty i32[2000]", "10000", "2000"]
//
// [levenshtein]
// grid = 2
// block = 64
// args = ["random(0, 4) u8[128 * 24]", "random(0, 4) u8[128 * 24]", "empty i32[128]"]
//
// [crc]
// grid = 6
// block = 64
// args = ["random(0, 255) u8[384 * 37]", "empty u32[384]", "37"]
//
// [strings]
// grid = 3
// block = 100
// args = ["random(97, 123) u8[300 * 20]", "zeros i32[26]"]
//
// [moments]
// grid = 13
// block = 192
// args = ["random f64[20000]", "zeros f64[3]", "20000"]
//
// [top2]
// grid = 5
// block = 64
// args = ["random f32[320 * 9]", "empty f32[640]", "empty i32[640]"]
//
// [dot_half2]
// grid = 10
// block = 128
// args = ["random f16[20000]", "random f16[20000]", "zeros f32[1]", "10000"]
//
// [queue_push]
// grid = 12
// block = 160
// args = ["random(0, 1000) i32[12 * 160]", "empty i32[12 * 160]", "zeros i32[1]"]
//
// [union_find]
// grid = 4
// block = 128
// args = ["arange i32[512]", "random(0, 512) i32[700]", "random(0, 512) i32[700]", "700"]
//
// [floyd]
// grid = [3, 24]
// block = 32
// args = ["random(1, 100) i32[72 * 72]", "72", "11"]
//
// [dct8]
// grid = 6
// block = [8, 8, 3]
// args = ["random f32[64 * 18]", "empty f32[64 * 18]"]
//
// [attention]
// grid = [6, 2]
// block = 64
// args = ["random f32[2 * 96 * 32]", "random f32[2 * 96 * 32]", "random f32[2 * 96 * 32]", "empty f32[2 * 96 * 32]", "96", "0.17677669f"]
//
// [virtual_calls]
// grid = 4
// block = 96
// args = ["random(0, 3) i32[384]", "random f32[384]", "empty f32[384]"]
//
// [fibonacci]
// grid = 2
// block = 40
// args = ["random(0, 9) i32[80]", "empty i32[80]"]
//
// [struct_of]
// grid = 5
// block = 120
// args = ["random f32[600 * 7]", "empty f32[600 * 3]"]
// ///
#include <cuda_fp16.h>

extern "C" __global__ void histogram(const int* in, int* out, int n) {
  __shared__ int bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) if (bins[i]) atomicAdd(&out[i], bins[i]);
}

extern "C" __global__ void histogram_warp(const int* in, int* out, int n) {
  __shared__ int bins[4][65];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = lane; i < 64; i += 32) bins[w][i] = 0;
  __syncwarp();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int v = in[i];
    unsigned same = __match_any_sync(__activemask(), v);
    if (lane == __ffs(same) - 1) bins[w][v] += __popc(same);
    __syncwarp();
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&out[i], bins[0][i] + bins[1][i] + bins[2][i] + bins[3][i]);
}

__device__ float warp_max(float v) { for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d)); return v; }
__device__ float warp_sum(float v) { for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d); return v; }

template <bool MAX>
__device__ float block_reduce(float v, float* room) {
  v = MAX ? warp_max(v) : warp_sum(v);
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? room[threadIdx.x] : (MAX ? -__int_as_float(0x7f800000) : 0.f);
  if (threadIdx.x < 32) { v = MAX ? warp_max(v) : warp_sum(v); if (threadIdx.x == 0) room[0] = v; }
  __syncthreads();
  v = room[0];
  __syncthreads();
  return v;
}

extern "C" __global__ void softmax_rows(const float* in, float* out, int width) {
  __shared__ float room[32];
  const float* row = in + blockIdx.x * width;
  float top = -__int_as_float(0x7f800000), sum = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x) top = fmaxf(top, row[i]);
  top = block_reduce<true>(top, room);
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += __expf(row[i] - top);
  sum = block_reduce<false>(sum, room);
  for (int i = threadIdx.x; i < width; i += blockDim.x) out[blockIdx.x * width + i] = __expf(row[i] - top) / sum;
}

extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int width, float eps) {
  __shared__ float room[32];
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x) { float v = x[blockIdx.x * width + i]; sum += v; squares += v * v; }
  float mean = block_reduce<false>(sum, room) / width;
  float var = block_reduce<false>(squares, room) / width - mean * mean;
  float scale = rsqrtf(var + eps);
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    y[blockIdx.x * width + i] = (x[blockIdx.x * width + i] - mean) * scale * gamma[i] + beta[i];
}

extern "C" __global__ void transpose_pad(const float* in, float* out, int w, int h) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) if (x < w && y + k < h) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) if (x < h && y + k < w) out[(y + k) * h + x] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void transpose_swizzle(const float4* in, float* out, int n) {
  __shared__ float tile[32][32];
  int x = threadIdx.x % 8, y = threadIdx.y * 4 + threadIdx.x / 8;
  float4 v = in[((blockIdx.y * 32 + y) * n + blockIdx.x * 32) / 4 + x];
  tile[y][(4 * x + 0) ^ y] = v.x; tile[y][(4 * x + 1) ^ y] = v.y; tile[y][(4 * x + 2) ^ y] = v.z; tile[y][(4 * x + 3) ^ y] = v.w;
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8) out[(blockIdx.x * 32 + k) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][k ^ threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(256) sgemm_register(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[8][64], b[8][64];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * 64, col = blockIdx.x * 64;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 8) {
    for (int i = threadIdx.x; i < 512; i += 256) {
      int k = i % 8, m = i / 8;
      a[k][m] = row + m < M && k0 + k < K ? A[(row + m) * K + k0 + k] : 0.f;
      b[i / 64][i % 64] = k0 + i / 64 < K && col + i % 64 < N ? B[(k0 + i / 64) * N + col + i % 64] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float4 x = *(float4*)&a[k][ty * 4], y = *(float4*)&b[k][tx * 4];
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] += xs[i] * ys[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    if (row + ty * 4 + i < M) *(float4*)&C[(row + ty * 4 + i) * N + col + tx * 4] = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

extern "C" __global__ void spmv_vector(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = start[row] + lane; i < start[row + 1]; i += 32) sum += value[i] * __ldg(&x[column[i]]);
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}

extern "C" __global__ void mandelbrot(int* out, int w, int h, int most) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= w || py >= h) return;
  float cx = -2.f + 3.f * px / w, cy = -1.5f + 3.f * py / h, x = 0, y = 0;
  int k = 0;
  while (k < most && x * x + y * y < 4.f) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; k++; }
  out[py * w + px] = k;
}

extern "C" __global__ void bitonic(int* data) {
  __shared__ int s[512];
  int* mine = data + blockIdx.x * 512;
  s[threadIdx.x] = mine[threadIdx.x]; s[threadIdx.x + 256] = mine[threadIdx.x + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int step = size / 2; step; step /= 2) {
      __syncthreads();
      int i = 2 * step * (threadIdx.x / step) + threadIdx.x % step, j = i + step;
      bool up = (i & size) == 0;
      if ((s[i] > s[j]) == up) { int t = s[i]; s[i] = s[j]; s[j] = t; }
    }
  __syncthreads();
  mine[threadIdx.x] = s[threadIdx.x]; mine[threadIdx.x + 256] = s[threadIdx.x + 256];
}

extern "C" __global__ void radix_pass(const int* in, int* counts, int* out, int shift) {
  __shared__ int count[16], offset[16];
  if (threadIdx.x < 16) count[threadIdx.x] = 0;
  __syncthreads();
  int digit[4], rank[4];
  for (int k = 0; k < 4; k++) {
    int v = in[blockIdx.x * 1024 + k * 256 + threadIdx.x];
    digit[k] = v >> shift & 15;
    unsigned peers = ~0u;
    for (int bit = 0; bit < 4; bit++) { unsigned vote = __ballot_sync(~0u, digit[k] >> bit & 1); peers &= digit[k] >> bit & 1 ? vote : ~vote; }
    int lane = threadIdx.x % 32, leader = __ffs(peers) - 1, base = 0;
    for (int w = 0; w < 8; w++) {
      if (threadIdx.x / 32 == w && lane == leader) { base = count[digit[k]]; count[digit[k]] = base + __popc(peers); }
      __syncthreads();
    }
    rank[k] = __shfl_sync(~0u, base, leader) + __popc(peers & ((1u << lane) - 1));
  }
  if (threadIdx.x == 0) { int sum = 0; for (int d = 0; d < 16; d++) { offset[d] = sum; sum += count[d]; } }
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = count[threadIdx.x];
  for (int k = 0; k < 4; k++) out[blockIdx.x * 1024 + offset[digit[k]] + rank[k]] = in[blockIdx.x * 1024 + k * 256 + threadIdx.x];
}

extern "C" __global__ void scan_blelloch(const int* in, int* out) {
  __shared__ int s[512];
  int t = threadIdx.x, base = blockIdx.x * 512, offset = 1;
  s[2 * t] = in[base + 2 * t]; s[2 * t + 1] = in[base + 2 * t + 1];
  for (int d = 256; d > 0; d /= 2) { __syncthreads(); if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1]; offset *= 2; }
  if (t == 0) s[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) { int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1, x = s[i]; s[i] = s[j]; s[j] += x; }
  }
  __syncthreads();
  out[base + 2 * t] = s[2 * t]; out[base + 2 * t + 1] = s[2 * t + 1];
}

extern "C" __global__ void scan_warp(const int* in, int* out, int n) {
  __shared__ int sums[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  int v = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, v, d); if (lane >= d) v += u; }
  if (lane == 31) sums[w] = v;
  __syncthreads();
  if (w == 0 && lane < 7) { int s = sums[lane]; for (int d = 1; d < 8; d *= 2) { int u = __shfl_up_sync(0x7f, s, d); if (lane >= d) s += u; } sums[lane] = s; }
  __syncthreads();
  if (w) v += sums[w - 1];
  if (i < n) out[i] = v;
}

extern "C" __global__ void life(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int around = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) around += in[(y + dy + h) % h * w + (x + dx + w) % w];
  out[y * w + x] = around == 3 || (around == 2 && in[y * w + x]);
}

extern "C" __global__ void conv2d(const float* in, const float* mask, float* out, int w, int h) {
  __shared__ float tile[12][20];
  int x0 = blockIdx.x * 16 - 2, y0 = blockIdx.y * 8 - 2;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 240; i += 128) {
    int x = x0 + i % 20, y = y0 + i / 20;
    tile[i / 20][i % 20] = x >= 0 && y >= 0 && x < w && y < h ? in[y * w + x] : 0.f;
  }
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 5; j++) for (int i = 0; i < 5; i++) sum = fmaf(tile[threadIdx.y + j][threadIdx.x + i], mask[j * 5 + i], sum);
  int x = x0 + 2 + threadIdx.x, y = y0 + 2 + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = sum;
}

extern "C" __global__ void nbody_step(const float4* place, float4* speed, int n, float dt) {
  __shared__ float4 s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = place[i]; float3 a = {0, 0, 0};
  for (int base = 0; base < n; base += 128) {
    s[threadIdx.x] = place[base + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 128; j++) {
      float dx = s[j].x - p.x, dy = s[j].y - p.y, dz = s[j].z - p.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), f = s[j].w * r * r * r;
      a.x += dx * f; a.y += dy * f; a.z += dz * f;
    }
    __syncthreads();
  }
  speed[i].x += a.x * dt; speed[i].y += a.y * dt; speed[i].z += a.z * dt;
}

__device__ float normal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }
extern "C" __global__ void black_scholes(const float* S, const float* X, const float* T, float* call, float* put, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float root = sqrtf(T[i]), d1 = (logf(S[i] / X[i]) + (0.02f + 0.5f * 0.09f) * T[i]) / (0.3f * root), d2 = d1 - 0.3f * root;
  float grown = X[i] * expf(-0.02f * T[i]);
  call[i] = S[i] * normal(d1) - grown * normal(d2);
  put[i] = grown * (1 - normal(d2)) - S[i] * (1 - normal(d1));
}

extern "C" __global__ void xorshift_pi(int* hits, int tries) {
  unsigned long long s = 88172645463325252ull + (blockIdx.x * blockDim.x + threadIdx.x) * 7919ull;
  int mine = 0;
  for (int k = 0; k < tries; k++) {
    s ^= s << 13; s ^= s >> 7; s ^= s << 17;
    float x = (s & 0xffffff) * 0x1p-24f, y = (s >> 24 & 0xffffff) * 0x1p-24f;
    if (x * x + y * y < 1.f) mine++;
  }
  mine = __reduce_add_sync(~0u, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(hits, mine);
}

extern "C" __global__ void bfs_level(const int* start, const int* edge, int* level, int* changed, int current, int nodes) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes || level[v] != current) return;
  for (int e = start[v]; e < start[v + 1]; e++)
    if (atomicCAS(&level[edge[e]], 0, current + 10) == 0) *changed = 1;
}

extern "C" __global__ void binary_search(const int* sorted, const int* wanted, int* place, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  int low = 0, high = n - 1, found = -1, v = wanted[i];
  while (low <= high) {
    int mid = (low + high) / 2, s = sorted[mid];
    if (s == v) { found = mid; break; }
    if (s < v) low = mid + 1; else high = mid - 1;
  }
  place[i] = found;
}

extern "C" __global__ void levenshtein(const unsigned char* a, const unsigned char* b, int* out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int row[25];
  for (int j = 0; j <= 24; j++) row[j] = j;
  for (int i = 1; i <= 24; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= 24; j++) {
      int above = row[j];
      row[j] = min(min(row[j - 1], above) + 1, diagonal + (a[t * 24 + i - 1] != b[t * 24 + j - 1]));
      diagonal = above;
    }
  }
  out[t] = row[(t % 5) + 20];
}

extern "C" __global__ void crc(const unsigned char* in, unsigned* out, int length) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned c = ~0u;
  for (int i = 0; i < length; i++) { c ^= in[t * length + i]; for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1; }
  out[t] = ~c;
}

extern "C" __global__ void strings(const char* text, int* count) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 20; i++) {
    char c = text[t * 20 + i];
    switch (c) {
      case 'a': case 'e': case 'i': case 'o': case 'u': atomicAdd(&count[c - 'a'], 2); break;
      case 'q': case 'x': case 'z': continue;
      case 'y': return;
      default: if (i % 3) atomicAdd(&count[c - 'a'], 1);
    }
  }
}

extern "C" __global__ void moments(const double* x, double* out, int n) {
  double s = 0, q = 0, m = -1e300;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { s += 1; q += floor(x[i] * 4); m = fmax(m, x[i]); }
  for (int d = 16; d; d /= 2) { s += __shfl_down_sync(~0u, s, d); q += __shfl_down_sync(~0u, q, d); m = fmax(m, __shfl_down_sync(~0u, m, d)); }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&out[0], s); atomicAdd(&out[1], q);
    unsigned long long* p = (unsigned long long*)&out[2], old = *p, seen;
    do { seen = old; if (__longlong_as_double(seen) >= m) break; old = atomicCAS(p, seen, __double_as_longlong(m)); } while (old != seen);
  }
}

extern "C" __global__ void top2(const float* in, float* value, int* place) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float first = -1, second = -1; int f = -1, s = -1;
  for (int k = 0; k < 9; k++) {
    float v = in[t * 9 + k];
    if (v > first) { second = first; s = f; first = v; f = k; } else if (v > second) { second = v; s = k; }
  }
  value[2 * t] = first; value[2 * t + 1] = second; place[2 * t] = f; place[2 * t + 1] = s;
}

extern "C" __global__ void dot_half2(const __half2* a, const __half2* b, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float2 p = __half22float2(__hmul2(a[i], b[i]));
    sum += rintf((p.x + p.y) * 64.f);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" __global__ void queue_push(const int* in, int* queue, int* tail) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (v % 3 == 0) {
    unsigned who = __activemask();
    int leader = __ffs(who) - 1, lane = threadIdx.x % 32, base;
    if (lane == leader) base = atomicAdd(tail, __popc(who));
    base = __shfl_sync(who, base, leader);
    queue[base + __popc(who & ((1u << lane) - 1))] = v;
  }
}

extern "C" __global__ void union_find(int* parent, const int* from, const int* to, int edges) {
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += gridDim.x * blockDim.x) {
    int a = from[e], b = to[e];
    while (true) {
      while (parent[a] != a) a = parent[a];
      while (parent[b] != b) b = parent[b];
      if (a == b) break;
      if (a < b) { int t = a; a = b; b = t; }
      if (atomicCAS(&parent[a], a, b) == a) break;
    }
  }
}

extern "C" __global__ void floyd(int* d, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j < n && i < n && i != k && j != k) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

extern "C" __global__ void dct8(const float* in, float* out) {
  __shared__ float s[3][8][9], u[3][8][9];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, base = (blockIdx.x * 3 + z) * 64;
  s[z][y][x] = in[base + y * 8 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += s[z][y][k] * cospif((2 * k + 1) * x / 16.f);
  u[z][y][x] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; k++) sum += u[z][k][x] * cospif((2 * k + 1) * y / 16.f);
  out[base + y * 8 + x] = sum * 0.25f;
}

extern "C" __global__ void attention(const float* q, const float* k, const float* v, float* out, int length, float scale) {
  __shared__ float score[16][97];
  int head = blockIdx.y * length * 32, first = blockIdx.x * 16, row = threadIdx.x / 4, part = threadIdx.x % 4;
  for (int j = part; j < length; j += 4) {
    float s = 0;
    for (int d = 0; d < 32; d += 4) {
      float4 a = *(const float4*)&q[head + (first + row) * 32 + d], b = *(const float4*)&k[head + j * 32 + d];
      s += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    score[row][j] = j <= first + row ? s * scale : -1e30f;
  }
  __syncwarp();
  float top = -1e30f, sum = 0;
  for (int j = part; j < length; j += 4) top = fmaxf(top, score[row][j]);
  for (int d = 1; d < 4; d *= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  for (int j = part; j < length; j += 4) { float e = exp2f((score[row][j] - top) * 1.442695f); score[row][j] = e; sum += e; }
  for (int d = 1; d < 4; d *= 2) sum += __shfl_xor_sync(~0u, sum, d);
  __syncwarp();
  for (int d = part * 8; d < part * 8 + 8; d++) {
    float o = 0;
    for (int j = 0; j < length; j++) o += score[row][j] * v[head + j * 32 + d];
    out[head + (first + row) * 32 + d] = o / sum;
  }
}

struct Shape { __device__ virtual float area(float x) const = 0; };
struct Square : Shape { __device__ float area(float x) const override { return x * x; } };
struct Disc : Shape { __device__ float area(float x) const override { return 3.14159265f * x * x; } };
struct Bar : Shape { __device__ float area(float x) const override { return 2 * x + 1; } };
extern "C" __global__ void virtual_calls(const int* kind, const float* x, float* out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  Square s; Disc d; Bar b;
  const Shape* all[3] = {&s, &d, &b};
  out[t] = all[kind[t]]->area(x[t]);
}

__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void fibonacci(const int* in, int* out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = fib(in[t]);
}

struct Particle { float x, y, z, vx, vy, vz, m; };
extern "C" __global__ void struct_of(const Particle* p, float* out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  Particle q = p[t];
  out[3 * t] = q.x + q.vx * q.m; out[3 * t + 1] = q.y + q.vy * q.m; out[3 * t + 2] = q.z + q.vz * q.m;
}
