// Travellers: signals (launches: launches.toml).
using uint = unsigned int;

// A signal of pairs of 16 bits becomes an eighth as long: each number is 64 of them by 64 weights.
__device__ void add(float2& sum, float weight, short2 v) {
  sum.x += weight * v.x;
  sum.y += weight * v.y;
}
// From global memory.
extern "C" __global__ void decimate_plain(const short2* x, const float* weights, float2* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 sum = make_float2(0, 0);
  for (int k = 0; k < 64; ++k) add(sum, weights[k], x[8 * i + k]);
  y[i] = sum;
}
// A block brings the pairs of its 128 numbers to shared memory, in the order in which they stand.
extern "C" __global__ void decimate_tile(const short2* x, const float* weights, float2* y, int n) {
  __shared__ short2 s[1088];
  __shared__ float w[64];
  const int t = threadIdx.x, from = blockIdx.x * 1024;
  for (int k = t; k < 1088; k += 128) s[k] = x[from + k];
  if (t < 64) w[t] = weights[t];
  __syncthreads();
  float2 sum = make_float2(0, 0);
#pragma unroll 16
  for (int k = 0; k < 64; ++k) add(sum, w[k], s[8 * t + k]);
  y[blockIdx.x * 128 + t] = sum;
}
// In shared memory each eighth pair stands beside the other.
extern "C" __global__ void decimate_phases(const short2* x, const float* weights, float2* y, int n) {
  __shared__ short2 s[8][140];
  __shared__ float w[64];
  const int t = threadIdx.x, from = blockIdx.x * 1024;
  for (int k = t; k < 1088; k += 128) s[k & 7][k >> 3] = x[from + k];
  if (t < 64) w[t] = weights[t];
  __syncthreads();
  float2 sum = make_float2(0, 0);
#pragma unroll 2
  for (int m = 0; m < 8; ++m)
#pragma unroll
    for (int p = 0; p < 8; ++p) add(sum, w[8 * m + p], s[p][t + m]);
  y[blockIdx.x * 128 + t] = sum;
}
// Four numbers a thread: of each eighth it reads twelve pairs once.
extern "C" __global__ void decimate_fours(const short2* x, const float* weights, float4* y, int n) {
  __shared__ __align__(16) short2 s[8][524];
  __shared__ float w[64];
  const int t = threadIdx.x, from = blockIdx.x * 4096;
  for (int k = t; k < 4160; k += 128) s[k & 7][k >> 3] = x[from + k];
  if (t < 64) w[t] = weights[t];
  __syncthreads();
  float2 sum[4] = {};
  for (int p = 0; p < 8; ++p) {
    __align__(16) short2 v[12];
#pragma unroll
    for (int k = 0; k < 3; ++k)
      reinterpret_cast<int4*>(v)[k] = reinterpret_cast<const int4*>(s[p])[t + k];
#pragma unroll
    for (int m = 0; m < 8; ++m)
#pragma unroll
      for (int o = 0; o < 4; ++o) add(sum[o], w[8 * m + p], v[o + m]);
  }
  const int at = blockIdx.x * 256 + 2 * t;
  y[at] = make_float4(sum[0].x, sum[0].y, sum[1].x, sum[1].y);
  y[at + 1] = make_float4(sum[2].x, sum[2].y, sum[3].x, sum[3].y);
}

// Rows of 1024 steps h = a h + b, each from nothing.
struct Step {
  float a, b;
  __device__ Step then(Step next) const { return {a * next.a, fmaf(next.a, b, next.b)}; }
};
__device__ Step shifted(Step s, int by) {
  return {__shfl_up_sync(~0u, s.a, by), __shfl_up_sync(~0u, s.b, by)};
}
// A row a thread.
extern "C" __global__ void recur_thread(const float* a, const float* b, float* h) {
  const size_t row = (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * 1024;
  float v = 0;
  for (int k = 0; k < 1024; ++k) h[row + k] = v = fmaf(a[row + k], v, b[row + k]);
}
// A row a thread; 64 rows come to shared memory and go from there 32 steps at a time.
extern "C" __global__ void recur_staged(const float* a, const float* b, float* h) {
  __shared__ float p[64][33], q[64][33];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const size_t from = (size_t)blockIdx.x * 64 * 1024;
  float v = 0;
  for (int start = 0; start < 1024; start += 32) {
    for (int row = warp; row < 64; row += 2) {
      p[row][lane] = a[from + row * 1024 + start + lane];
      q[row][lane] = b[from + row * 1024 + start + lane];
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 32; ++k) q[t][k] = v = fmaf(p[t][k], v, q[t][k]);
    __syncthreads();
    for (int row = warp; row < 64; row += 2) h[from + row * 1024 + start + lane] = q[row][lane];
    __syncthreads();
  }
}
// A row a warp, a step a lane: five rounds tell all of 32 steps.
extern "C" __global__ void recur_lanes(const float* a, const float* b, float* h) {
  const int lane = threadIdx.x & 31;
  const size_t row = (size_t)(blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * 1024;
  float v = 0;
  for (int start = lane; start < 1024; start += 32) {
    Step s{a[row + start], b[row + start]};
#pragma unroll
    for (int k = 1; k < 32; k <<= 1) {
      const Step before = shifted(s, k);
      if (lane >= k) s = before.then(s);
    }
    h[row + start] = v = fmaf(s.a, v, s.b);
    v = __shfl_sync(~0u, v, 31);
  }
}
// A row a warp, eight steps a lane in words of 16 bytes.
extern "C" __global__ void recur_eights(const float4* a, const float4* b, float4* h) {
  const int lane = threadIdx.x & 31;
  const size_t row = (size_t)(blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * 256;
  float v = 0;
#pragma unroll 1
  for (int piece = 0; piece < 4; ++piece) {
    const size_t at = row + 64 * piece + 2 * lane;
    const float4 p[2] = {a[at], a[at + 1]}, q[2] = {b[at], b[at + 1]};
    const Step each[8] = {{p[0].x, q[0].x}, {p[0].y, q[0].y}, {p[0].z, q[0].z}, {p[0].w, q[0].w},
                          {p[1].x, q[1].x}, {p[1].y, q[1].y}, {p[1].z, q[1].z}, {p[1].w, q[1].w}};
    Step s = each[0];
#pragma unroll
    for (int k = 1; k < 8; ++k) s = s.then(each[k]);
#pragma unroll
    for (int k = 1; k < 32; k <<= 1) {
      const Step before = shifted(s, k);
      if (lane >= k) s = before.then(s);
    }
    Step before = shifted(s, 1);
    if (lane == 0) before = Step{1, 0};
    float w = fmaf(before.a, v, before.b), out[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) out[k] = w = fmaf(each[k].a, w, each[k].b);
    h[at] = make_float4(out[0], out[1], out[2], out[3]);
    h[at + 1] = make_float4(out[4], out[5], out[6], out[7]);
    v = __shfl_sync(~0u, w, 31);
  }
}

// Points vote for lines (Hough): for each of 180 directions, in 1/16384, how far from the middle a line through the
// point would be; 520 distances a direction.
__device__ int distance(short2 point, short2 direction) {
  return ((point.x * direction.x + point.y * direction.y) >> 15) + 256;
}
// A point a thread, every vote to global memory.
extern "C" __global__ void hough_global(const short2* points, const short2* directions, uint* votes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const short2 point = points[i];
  for (int d = 0; d < 180; ++d) atomicAdd(votes + d * 520 + distance(point, directions[d]), 1u);
}
// A direction a block (of so many), votes in shared memory.
extern "C" __global__ void hough_block(const short2* points, const short2* directions, uint* votes, int n) {
  __shared__ uint found[520];
  for (int k = threadIdx.x; k < 520; k += blockDim.x) found[k] = 0;
  __syncthreads();
  const short2 direction = directions[blockIdx.x];
  for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < n; i += gridDim.y * blockDim.x)
    atomicAdd(&found[distance(points[i], direction)], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < 520; k += blockDim.x)
    if (found[k]) atomicAdd(votes + blockIdx.x * 520 + k, found[k]);
}
// Four directions a block, four points a thread at once.
extern "C" __global__ void hough_fours(const int4* points, const short2* directions, uint* votes, int n) {
  __shared__ uint found[4][520];
  for (int k = threadIdx.x; k < 4 * 520; k += blockDim.x) found[0][k] = 0;
  short2 direction[4];
  for (int d = 0; d < 4; ++d) direction[d] = directions[4 * blockIdx.x + d];
  __syncthreads();
  for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.y * blockDim.x) {
    const int4 raw = points[i];
    const short2* four = reinterpret_cast<const short2*>(&raw);
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int d = 0; d < 4; ++d) atomicAdd(&found[d][distance(four[k], direction[d])], 1u);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 4 * 520; k += blockDim.x)
    if (found[0][k]) atomicAdd(votes + blockIdx.x * 4 * 520 + k, found[0][k]);
}
