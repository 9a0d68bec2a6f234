// Particles, samples and transforms.
// /// warplens
// [lennard_jones]
// grid = 4
// block = 96
// args = ["random:f32[1536](0,6)", "random:i32[7680](0,384)", "zeros:f32[1536]", "384", "20"]
// [cell_boxes]
// grid = 8
// block = 64
// args = ["random:f32[2048](0,4)", "random:i32[40](0,8)", "random:f32[512]", "zeros:f32[2048]"]
// [walsh]
// grid = 4
// block = 128
// shared = 2048
// args = ["random:f32[2048]", "zeros:f32[2048]", "9"]
// [radix_two]
// grid = 6
// block = 64
// args = ["random:f32[1536]", "random:f32[128](-1,1)", "zeros:f32[1536]"]
// [two_point]
// grid = 3
// block = 128
// args = ["random:f32[1152](-1,1)", "zeros:u32[16]", "384"]
// [bisection]
// grid = 2
// block = 64
// args = ["random:f32[96](-4,4)", "random:f32[96](0,2)", "zeros:f32[128]", "96"]
// [k_means]
// grid = 7
// block = 96
// args = ["random:f32[4704]", "random:f32[63]", "zeros:i32[672]", "zeros:f32[72]", "672"]
// [doubles_pairwise]
// grid = 3
// block = 96
// args = ["random:f64[2000]", "zeros:f64[3]", "zeros:f64[288]", "2000"]
// [compressed]
// grid = 12
// block = 32
// args = ["random:u32[6144]", "zeros:u32[768]"]
// [population]
// grid = 4
// block = 128
// args = ["random:f32[600](0,1)", "random:f32[600](0,1)", "zeros:i32[600]", "zeros:f32[600]", "600"]
// ///
extern "C" {

__global__ void lennard_jones(const float4 *position, const int *neighbours, float4 *force, int n, int most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = position[i], f = make_float4(0, 0, 0, 0);
  for (int j = 0; j < most; j++) {
    int other = neighbours[j * n + i];
    float4 q = position[other];
    float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < 9.0f && r2 > 0.01f) {
      float inv = 1.0f / r2, r6 = inv * inv * inv, k = inv * r6 * (1.5f * r6 - 2.0f);
      f.x += dx * k; f.y += dy * k; f.z += dz * k;
    }
  }
  force[i] = f;
}

__global__ void cell_boxes(const float4 *particles, const int *near_, const float *charge, float4 *out) {
  __shared__ float4 home[64], theirs[64];
  __shared__ float q[64];
  int t = threadIdx.x, box = blockIdx.x;
  home[t] = particles[box * 64 + t];
  __syncthreads();
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k = 0; k < 6; k++) {
    int other = k == 0 ? box : near_[box * 5 + k - 1];
    theirs[t] = particles[other * 64 + t];
    q[t] = charge[other * 64 + t];
    __syncthreads();
    for (int j = 0; j < 64; j++) {
      float4 a = home[t], b = theirs[j];
      float r2 = a.w + b.w - (a.x * b.x + a.y * b.y + a.z * b.z), v = exp2f(-0.5f * r2);
      sum.w += q[j] * v;
      sum.x += q[j] * 2 * v * (a.x - b.x); sum.y += q[j] * 2 * v * (a.y - b.y); sum.z += q[j] * 2 * v * (a.z - b.z);
    }
    __syncthreads();
  }
  out[box * 64 + t] = sum;
}

__global__ void walsh(const float *in, float *out, int log) {
  extern __shared__ float s[];
  int n = 1 << log, base = blockIdx.x << log;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[base + i];
  int p = threadIdx.x;
  for (int stride = n >> 2; stride > 0; stride >>= 2) {
    int low = p & (stride - 1), i0 = ((p - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    __syncthreads();
    float d0 = s[i0], d1 = s[i1], d2 = s[i2], d3 = s[i3], t = d0;
    d0 = d0 + d2; d2 = t - d2; t = d1; d1 = d1 + d3; d3 = t - d3;
    t = d0; s[i0] = d0 + d1; s[i1] = t - d1; t = d2; s[i2] = d2 + d3; s[i3] = t - d3;
  }
  if (log & 1) {
    __syncthreads();
    for (int k = p; k < n / 2; k += blockDim.x) { int i = k << 1; float a = s[i], b = s[i + 1]; s[i] = a + b; s[i + 1] = a - b; }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[base + i] = s[i];
}

__global__ void radix_two(const float2 *in, const float2 *roots, float2 *out) {
  __shared__ float2 s[128];
  int t = threadIdx.x, base = blockIdx.x * 128;
  s[__brev(t) >> 25] = in[base + t];
  s[__brev(t + 64) >> 25] = in[base + t + 64];
  for (int half_ = 1; half_ < 128; half_ <<= 1) {
    __syncthreads();
    int k = t & (half_ - 1), a = ((t - k) << 1) + k, b = a + half_;
    float2 w = roots[k * (64 / half_)], x = s[a], y = s[b];
    float2 z = make_float2(w.x * y.x - w.y * y.y, w.x * y.y + w.y * y.x);
    s[a] = make_float2(x.x + z.x, x.y + z.y);
    s[b] = make_float2(x.x - z.x, x.y - z.y);
  }
  __syncthreads();
  out[base + t] = s[t];
  out[base + t + 64] = s[t + 64];
}

__constant__ float EDGES[15] = {.9f, .8f, .7f, .6f, .5f, .4f, .3f, .2f, .1f, 0, -.2f, -.4f, -.6f, -.8f, -.9f};
__global__ void two_point(const float *points, unsigned *bins, int n) {
  __shared__ unsigned mine[16][4];
  __shared__ float x[128], y[128], z[128];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) mine[i / 4][i % 4] = 0;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float px = points[i], py = points[n + i], pz = points[2 * n + i];
  for (int b = 0; b < n; b += 128) {
    __syncthreads();
    x[threadIdx.x] = points[b + threadIdx.x]; y[threadIdx.x] = points[n + b + threadIdx.x]; z[threadIdx.x] = points[2 * n + b + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; j++) {
      if (b + j <= i) continue;
      float d = px * x[j] + py * y[j] + pz * z[j];
      int low = 0, high = 15;
      while (high > low + 1) {
        int mid = (low + high) / 2;
        if (d >= EDGES[mid]) high = mid; else low = mid;
      }
      int bin = d >= EDGES[low] ? low : high < 15 && d < EDGES[high] ? high + 1 : high;
      atomicAdd(&mine[bin][threadIdx.x / 32], 1);
    }
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x][0] + mine[threadIdx.x][1] + mine[threadIdx.x][2] + mine[threadIdx.x][3]);
}

__device__ int smaller(const float *d, const float *s, int n, float x) {
  int count = 0; float delta = d[0] - x;
  count += delta < 0;
  for (int i = 1; i < n; i++) { delta = d[i] - x - s[i] / delta; count += delta < 0; }
  return count;
}
__global__ void bisection(const float *d, const float *off, float *out, int n) {
  __shared__ float ds[96], ss[96];
  for (int i = threadIdx.x; i < n; i += blockDim.x) { ds[i] = d[i]; ss[i] = off[i] * off[i]; }
  __syncthreads();
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  float low = -10, high = 10;
  while (high - low > 1e-3f * fmaxf(fabsf(low), fabsf(high)) + 1e-4f) {
    float mid = low + (high - low) * 0.5f;
    if (smaller(ds, ss, n, mid) > k % n) high = mid; else low = mid;
  }
  out[k] = low;
}

__global__ void k_means(const float *points, const float *centres, int *member, float *sums, int n) {
  __shared__ float c[63], part[72];
  if (threadIdx.x < 63) c[threadIdx.x] = centres[threadIdx.x];
  if (threadIdx.x < 72) part[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int which = 0; float best = 3.4e38f;
    for (int k = 0; k < 9; k++) {
      float d = 0;
#pragma unroll
      for (int f = 0; f < 7; f++) { float e = points[f * n + i] - c[k * 7 + f]; d += e * e; }
      if (d < best) { best = d; which = k; }
    }
    member[i] = which;
    for (int f = 0; f < 7; f++) atomicAdd(&part[which * 8 + f], rintf(points[f * n + i] * 256));
    atomicAdd(&part[which * 8 + 7], 1.0f);
  }
  __syncthreads();
  if (threadIdx.x < 72 && part[threadIdx.x] != 0) atomicAdd(&sums[threadIdx.x], part[threadIdx.x]);
}

__global__ void doubles_pairwise(const double *x, double *sums, double *steps, int n) {
  __shared__ double s[96];
  double sum = 0, lost = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    double y = sqrt(fabs(x[i])) / (1.0 + x[i] * x[i]) - lost, t = sum + y;
    lost = (t - sum) - y; sum = t;
  }
  s[threadIdx.x] = sum;
  steps[blockIdx.x * blockDim.x + threadIdx.x] = lost;
  __syncthreads();
  for (int size = 96; size > 1;) {
    int half_ = (size + 1) / 2;
    if (threadIdx.x < size / 2) s[threadIdx.x] += s[threadIdx.x + half_];
    size = half_;
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}

__global__ void compressed(const unsigned *pixels, uint2 *out) {  // blocks of 4 x 4 pixels to two colours and indices
  __shared__ unsigned c[2][16];
  int group = threadIdx.x / 16, lane = threadIdx.x % 16, at = (blockIdx.x * 2 + group) * 16;
  for (int round = 0; round < 16; round++, at += 384) {
    unsigned p = pixels[at % 6144 + lane] & 0x3ff, low = p, high = p;
    c[group][lane] = p;
    for (int o = 8; o; o >>= 1) {
      low = min(low, __shfl_xor_sync(0xffffffff, low, o, 16));
      high = max(high, __shfl_xor_sync(0xffffffff, high, o, 16));
    }
    __syncwarp();
    unsigned bits = 0;
    if (lane == 0) {
      unsigned range = high - low;
      for (int i = 0; i < 16; i++) bits |= (range ? (c[group][i] - low) * 3 / range : 0) << 2 * i;
      out[(at % 6144) / 16] = make_uint2(low << 16 | high, bits);
    }
    __syncwarp();
  }
}

__global__ void population(const float *cumulated, const float *u, int *index, float *out, int n) {
  __shared__ float us[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) us[threadIdx.x] = u[i];
  __syncthreads();
  if (i >= n) return;
  int found = -1;
  for (int x = 0; x < n; x++)
    if (cumulated[x] * 1.05f >= us[threadIdx.x]) { found = x; break; }
  if (found == -1) found = n - 1;
  index[i] = found;
  out[i] = cumulated[found] + us[(threadIdx.x + 1) % (n - (int)(blockIdx.x * blockDim.x) < 128 ? n - (int)(blockIdx.x * blockDim.x) : 128)];
}
}
