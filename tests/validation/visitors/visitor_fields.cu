// Visitors: fields on grids, transforms, systems of equations (launches: launches.toml).
using uint = unsigned;

// Second derivatives of the eighth order in a cube of w x w x w; four points at each face stay as they are.
#define FAR(k) ((k) == 0 ? -2.847222f : (k) == 1 ? 1.6f : (k) == 2 ? -0.2f : (k) == 3 ? 0.025396825f : -0.0017857143f)
__device__ bool within(int x, int w) { return x >= 4 && x < w - 4; }

// A point a thread.
extern "C" __global__ void star_plain(const float* a, float* b, int w) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
  if (!within(x, w) || !within(y, w) || !within(z, w)) return;
  int at = (z * w + y) * w + x;
  float s = 3 * FAR(0) * a[at];
#pragma unroll
  for (int k = 1; k <= 4; ++k)
    s += FAR(k) * (a[at - k] + a[at + k] + a[at - k * w] + a[at + k * w] + a[at - k * w * w] + a[at + k * w * w]);
  b[at] = s;
}
// A thread goes through 32 planes and keeps nine of its column.
extern "C" __global__ void star_march(const float* a, float* b, int w) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  int from = max(4, (int)blockIdx.z * 32), to = min(w - 4, (int)blockIdx.z * 32 + 32);
  if (!within(x, w) || !within(y, w)) return;
  float q[9];
#pragma unroll
  for (int k = 0; k < 8; ++k) q[k + 1] = a[((from - 4 + k) * w + y) * w + x];
  for (int z = from; z < to; ++z) {
    int at = (z * w + y) * w + x;
#pragma unroll
    for (int k = 0; k < 8; ++k) q[k] = q[k + 1];
    q[8] = a[at + 4 * w * w];
    float s = 3 * FAR(0) * q[4];
#pragma unroll
    for (int k = 1; k <= 4; ++k)
      s += FAR(k) * (q[4 - k] + q[4 + k] + a[at - k] + a[at + k] + a[at - k * w] + a[at + k * w]);
    b[at] = s;
  }
}
// The same, each plane through shared memory.
extern "C" __global__ void star_tile(const float* a, float* b, int w) {
  __shared__ float s[16][40];
  int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 32 - 4, y0 = blockIdx.y * 8 - 4;
  int x = x0 + 4 + tx, y = y0 + 4 + ty, from = max(4, (int)blockIdx.z * 32), to = min(w - 4, (int)blockIdx.z * 32 + 32);
  float q[9];
#pragma unroll
  for (int k = 0; k < 8; ++k) q[k + 1] = a[((from - 4 + k) * w + y) * w + x];
  for (int z = from; z < to; ++z) {
    int at = (z * w + y) * w + x;
#pragma unroll
    for (int k = 0; k < 8; ++k) q[k] = q[k + 1];
    q[8] = a[at + 4 * w * w];
    __syncthreads();
    for (int e = ty * 32 + tx; e < 16 * 40; e += 256) {
      int v = min(max(y0 + e / 40, 0), w - 1), u = min(max(x0 + e % 40, 0), w - 1);
      s[e / 40][e % 40] = a[(z * w + v) * w + u];
    }
    __syncthreads();
    float sum = 3 * FAR(0) * q[4];
#pragma unroll
    for (int k = 1; k <= 4; ++k)
      sum += FAR(k) * (q[4 - k] + q[4 + k] + s[ty + 4][tx + 4 - k] + s[ty + 4][tx + 4 + k] + s[ty + 4 - k][tx + 4] +
                       s[ty + 4 + k][tx + 4]);
    if (within(x, w) && within(y, w)) b[at] = sum;
  }
}
// Four points of a line a thread, in words of 16 bytes.
extern "C" __global__ void star_fours(const float4* a, float4* b, int w) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z, row = w / 4;
  if (x == 0 || x >= row - 1 || !within(y, w) || !within(z, w)) return;
  int at = (z * w + y) * row + x;
  float4 parts[3] = {a[at - 1], a[at], a[at + 1]};
  float line[12] = {parts[0].x, parts[0].y, parts[0].z, parts[0].w, parts[1].x, parts[1].y,
                    parts[1].z, parts[1].w, parts[2].x, parts[2].y, parts[2].z, parts[2].w};
  float s[4];
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    s[p] = 3 * FAR(0) * line[4 + p];
#pragma unroll
    for (int k = 1; k <= 4; ++k) s[p] += FAR(k) * (line[4 + p - k] + line[4 + p + k]);
  }
#pragma unroll
  for (int k = 1; k <= 4; ++k) {
    float4 north = a[at - k * row], south = a[at + k * row], up = a[at - k * row * w], down = a[at + k * row * w];
    s[0] += FAR(k) * (north.x + south.x + up.x + down.x);
    s[1] += FAR(k) * (north.y + south.y + up.y + down.y);
    s[2] += FAR(k) * (north.z + south.z + up.z + down.z);
    s[3] += FAR(k) * (north.w + south.w + up.w + down.w);
  }
  b[at] = make_float4(s[0], s[1], s[2], s[3]);
}

// Discrete Fourier transforms of 512 complex numbers.  Nine steps of radix two in shared memory; a block a row.
extern "C" __global__ void fourier_two(const float2* x, float2* y) {
  __shared__ float2 s[512];
  int t = threadIdx.x;
  for (int k = t; k < 512; k += 256) s[__brev(k) >> 23] = x[blockIdx.x * 512 + k];
  __syncthreads();
  for (int half = 1; half < 512; half *= 2) {
    int low = t / half * 2 * half + t % half;
    float2 w, a = s[low], b = s[low + half];
    sincospif(-(float)(t % half) / half, &w.y, &w.x);
    float2 c = make_float2(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
    s[low] = make_float2(a.x + c.x, a.y + c.y);
    s[low + half] = make_float2(a.x - c.x, a.y - c.y);
    __syncthreads();
  }
  for (int k = t; k < 512; k += 256) y[blockIdx.x * 512 + k] = s[k];
}
__device__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ float2 quarter(float2 a) { return make_float2(a.y, -a.x); }
// Eight numbers in registers: what comes out stands in order.
__device__ void eighth(float2* v) {
  const float h = 0.70710678f;
  float2 e[4], o[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    e[k] = plus(v[k], v[k + 4]);
    o[k] = minus(v[k], v[k + 4]);
  }
  o[1] = times(o[1], make_float2(h, -h));
  o[2] = quarter(o[2]);
  o[3] = times(o[3], make_float2(-h, -h));
  float2 a = plus(e[0], e[2]), b = minus(e[0], e[2]), c = plus(e[1], e[3]), d = quarter(minus(e[1], e[3]));
  v[0] = plus(a, c); v[4] = minus(a, c); v[2] = plus(b, d); v[6] = minus(b, d);
  a = plus(o[0], o[2]); b = minus(o[0], o[2]); c = plus(o[1], o[3]); d = quarter(minus(o[1], o[3]));
  v[1] = plus(a, c); v[5] = minus(a, c); v[3] = plus(b, d); v[7] = minus(b, d);
}
__device__ void twiddled(float2* v, int k, int of) {
#pragma unroll
  for (int p = 1; p < 8; ++p) {
    float2 w;
    sincospif(-2.0f * p * k / of, &w.y, &w.x);
    v[p] = times(v[p], w);
  }
}
// Three steps of radix eight, eight numbers a thread; `gap` numbers stand free behind each eight in shared memory.
template <int gap> __device__ void in_eights(const float2* x, float2* y, float2* s, int t) {
  float2 v[8];
#pragma unroll
  for (int p = 0; p < 8; ++p) v[p] = x[t + 64 * p];
  eighth(v);
  twiddled(v, t, 512);
#pragma unroll
  for (int p = 0; p < 8; ++p) s[8 * t + p + gap * t] = v[p];
  __syncthreads();
  int low = t & 7, high = t >> 3;
#pragma unroll
  for (int p = 0; p < 8; ++p) v[p] = s[(high + 8 * p) * (8 + gap) + low];
  __syncthreads();
  eighth(v);
  twiddled(v, high, 64);
#pragma unroll
  for (int p = 0; p < 8; ++p) s[(8 * high + p) * (8 + gap) + low] = v[p];
  __syncthreads();
#pragma unroll
  for (int p = 0; p < 8; ++p) v[p] = s[(8 * p + high) * (8 + gap) + low];
  eighth(v);
#pragma unroll
  for (int p = 0; p < 8; ++p) y[low + 8 * high + 64 * p] = v[p];
}
extern "C" __global__ void fourier_eight(const float2* x, float2* y) {
  __shared__ float2 s[512];
  in_eights<0>(x + blockIdx.x * 512, y + blockIdx.x * 512, s, threadIdx.x);
}
// Four rows a block.
extern "C" __global__ void fourier_gaps(const float2* x, float2* y) {
  __shared__ float2 s[4][64 * 9];
  int row = blockIdx.x * 4 + threadIdx.x / 64;
  in_eights<1>(x + row * 512, y + row * 512, s[threadIdx.x / 64], threadIdx.x & 63);
}

// A step of a lattice Boltzmann flow in three dimensions with 19 directions: each cell fetches what flows towards it,
// and goes a part of the way to equilibrium; the cube of w x w x w has no end.
__constant__ signed char ways[19][3] = {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1},
    {1, 1, 0}, {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}, {1, 0, 1}, {-1, 0, -1}, {1, 0, -1}, {-1, 0, 1}, {0, 1, 1},
    {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};
extern "C" __global__ void lattice_19(const float* f, float* g, float rate, int w) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z, all = w * w * w;
  float v[19], rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    int u = x - ways[k][0], t = y - ways[k][1], s = z - ways[k][2];
    u += u < 0 ? w : u >= w ? -w : 0;
    t += t < 0 ? w : t >= w ? -w : 0;
    s += s < 0 ? w : s >= w ? -w : 0;
    v[k] = f[k * all + (s * w + t) * w + u];
    rho += v[k];
    ux += ways[k][0] * v[k];
    uy += ways[k][1] * v[k];
    uz += ways[k][2] * v[k];
  }
  ux /= rho;
  uy /= rho;
  uz /= rho;
  float rest = 1 - 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    float along = ways[k][0] * ux + ways[k][1] * uy + ways[k][2] * uz;
    float weight = k == 0 ? 1.0f / 3 : k < 7 ? 1.0f / 18 : 1.0f / 36;
    float even = weight * rho * (rest + 3 * along + 4.5f * along * along);
    g[k * all + (z * w + y) * w + x] = v[k] + rate * (even - v[k]);
  }
}

// Half a sweep of an Ising model: the sites of one colour turn with the probability that their neighbours give.
__device__ uint mixed(uint v) {
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}
extern "C" __global__ void ising_sweep(signed char* spins, uint seed, float beta, int colour, int w, int h) {
  int y = blockIdx.y * 8 + threadIdx.y, x = 2 * (blockIdx.x * 32 + threadIdx.x) + ((y + colour) & 1);
  int here = spins[y * w + x] > 0 ? 1 : -1;
  int up = spins[(y ? y - 1 : h - 1) * w + x], down = spins[(y + 1 < h ? y + 1 : 0) * w + x];
  int left = spins[y * w + (x ? x - 1 : w - 1)], right = spins[y * w + (x + 1 < w ? x + 1 : 0)];
  int around = (up > 0) + (down > 0) + (left > 0) + (right > 0);
  float cost = 2.0f * here * (2 * around - 4);
  float u = (mixed(seed + y * w + x) >> 8) * 5.9604645e-8f;
  if (cost <= 0 || u < __expf(-beta * cost)) here = -here;
  spins[y * w + x] = (signed char)here;
}

// The middle of a step of conjugate gradients: x += alpha p, r -= alpha q, and what a block adds to r r.
extern "C" __global__ void gradient_step(double2* x, double2* r, const double2* p, const double2* q, double alpha,
                                         double* sums) {
  __shared__ double s[8];
  int i = blockIdx.x * 256 + threadIdx.x;
  double2 a = x[i], b = r[i], c = p[i], d = q[i];
  a.x += alpha * c.x;
  a.y += alpha * c.y;
  b.x -= alpha * d.x;
  b.y -= alpha * d.y;
  x[i] = a;
  r[i] = b;
  double sum = b.x * b.x + b.y * b.y;
  for (int k = 16; k; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) sum += s[k];
    sums[blockIdx.x] = sum;
  }
}

// y = m x, where a row of m has 16 blocks of 4 x 4: sixteen lanes a row of blocks, a number of the block each.
extern "C" __global__ void blocks_product(const float* m, const int* columns, const float* x, float* y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 16, e = threadIdx.x & 15;
  int column = columns[row * 16 + e];
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < 16; ++k)
    sum += m[(row * 16 + k) * 16 + e] * x[4 * __shfl_sync(~0u, column, k, 16) + e % 4];
  sum += __shfl_xor_sync(~0u, sum, 1);
  sum += __shfl_xor_sync(~0u, sum, 2);
  if (e % 4 == 0) y[row * 4 + e / 4] = sum;
}

// What m frequencies of a magnetic resonance give at a point; tiles of 128 frequencies in shared memory.
extern "C" __global__ void resonance(const float4* frequencies, const float* points, float2* y, int m, int n) {
  __shared__ float4 s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float a = points[i], b = points[n + i], c = points[2 * n + i];
  float2 sum = make_float2(0, 0);
  for (int start = 0; start < m; start += 128) {
    s[threadIdx.x] = frequencies[start + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 128; ++k) {
      float4 f = s[k];
      float angle = 6.2831853f * (f.x * a + f.y * b + f.z * c), sine, cosine;
      __sincosf(angle, &sine, &cosine);
      sum.x += f.w * cosine;
      sum.y += f.w * sine;
    }
    __syncthreads();
  }
  y[i] = sum;
}
