// Numerical kernels, as people write them (launches: launches.toml).
using uint = unsigned;

// 7-point stencil in 3-D: a thread goes up a column and keeps three numbers of it in registers.
extern "C" __global__ void stencil_queue(const float* x, float* y, int w, int h, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= w - 1 || j >= h - 1) return;
  int layer = w * h, at = j * w + i;
  float below = x[at], here = x[at + layer];
  for (int k = 1; k < d - 1; ++k) {
    at += layer;
    float above = x[at + layer];
    y[at] = 0.4f * here + 0.1f * (below + above + x[at - 1] + x[at + 1] + x[at - w] + x[at + w]);
    below = here;
    here = above;
  }
}
// A step of Jacobi; the greatest change of each block.
extern "C" __global__ void jacobi(const double* x, double* y, double* change, int w, int h) {
  __shared__ double most[256];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y, t = threadIdx.y * 32 + threadIdx.x;
  double moved = 0;
  if (i > 0 && j > 0 && i < w - 1 && j < h - 1) {
    double v = 0.25 * (x[j * w + i - 1] + x[j * w + i + 1] + x[(j - 1) * w + i] + x[(j + 1) * w + i]);
    y[j * w + i] = v;
    moved = fabs(v - x[j * w + i]);
  }
  most[t] = moved;
  __syncthreads();
  for (int d = 128; d; d /= 2) {
    if (t < d) most[t] = fmax(most[t], most[t + d]);
    __syncthreads();
  }
  if (t == 0) change[blockIdx.y * gridDim.x + blockIdx.x] = most[0];
}
// Gauss and Seidel in place, the nodes of one colour.
extern "C" __global__ void red_black(float* x, const float* b, int w, int h, int colour) {
  int j = blockIdx.y * blockDim.y + threadIdx.y, i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((j + colour) & 1);
  if (i < 1 || j < 1 || i >= w - 1 || j >= h - 1) return;
  float around = x[j * w + i - 1] + x[j * w + i + 1] + x[(j - 1) * w + i] + x[(j + 1) * w + i];
  x[j * w + i] += 1.7f * ((around - b[j * w + i]) * 0.25f - x[j * w + i]);
}
// Sparse matrix in ELLPACK, by columns; -1 where a row has ended.
extern "C" __global__ void spmv_ell(const int* columns, const float* a, const float* x, float* y, int rows, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) {
    int c = columns[k * rows + r];
    if (c < 0) break;
    sum += a[k * rows + r] * x[c];
  }
  y[r] = sum;
}
// Sparse matrix as triples: a thread a triple, sums by atomics.
extern "C" __global__ void spmv_triples(const int* rows, const int* columns, const int* a, const int* x, int* y, int n) {
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += gridDim.x * blockDim.x)
    atomicAdd(&y[rows[e]], a[e] * x[columns[e]]);
}
// Sparse matrix by rows, 8 threads a row; row r has the numbers from r * 8 + first[r] on.
extern "C" __global__ void spmv_rows(const int* first, const int* columns, const float* a, const float* x, float* y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x & 7;
  float sum = 0;
  if (r < rows)
    for (int e = r * 8 + first[r] + lane; e < (r + 1) * 8 + first[r + 1]; e += 8) sum += a[e] * x[columns[e]];
  for (int d = 4; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d, 8);
  if (r < rows && lane == 0) y[r] = sum;
}
// The nearest of 16 centres in 8 dimensions, and how many points each centre gets.
extern "C" __global__ void nearest_centre(const float4* points, const float* centres, int* nearest, uint* counts, int n) {
  __shared__ float c[16 * 8];
  __shared__ uint own[16];
  if (threadIdx.x < 128) c[threadIdx.x] = centres[threadIdx.x];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 a = points[2 * i], b = points[2 * i + 1];
    float v[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}, best = 3e38f;
    int at = 0;
    for (int k = 0; k < 16; ++k) {
      float far = 0;
#pragma unroll
      for (int d = 0; d < 8; ++d) { float e = v[d] - c[k * 8 + d]; far += e * e; }
      if (far < best) { best = far; at = k; }
    }
    nearest[i] = at;
    atomicAdd(&own[at], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
// Gravity among all bodies, 128 at a time through shared memory.
extern "C" __global__ void gravity(const float4* body, float4* pull, int n) {
  __shared__ float4 tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int base = 0; base < n; base += 128) {
    tile[threadIdx.x] = base + threadIdx.x < n ? body[base + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 128; ++j) {
      float4 o = tile[j];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, r = dx * dx + dy * dy + dz * dz + 0.01f;
      float k = rsqrtf(r);
      k = o.w * k * k * k;
      ax += dx * k; ay += dy * k; az += dz * k;
    }
    __syncthreads();
  }
  if (i < n) pull[i] = make_float4(ax, ay, az, 0);
}
// Monte Carlo of an option over days: a generator a thread, normal numbers by Box and Muller.
extern "C" __global__ void option_paths(float* payoff, int days, float spot, float strike, uint seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint s = (i + 1) * 2654435761u ^ seed;
  float price = spot;
  for (int d = 0; d < days; d += 2) {
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    float u = (s >> 8) * (1.0f / 16777216) + 1e-7f;
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    float v = (s >> 8) * (6.2831853f / 16777216), r = sqrtf(-2 * __logf(u));
    price *= __expf(0.0001f + 0.012f * r * __cosf(v));
    price *= __expf(0.0001f + 0.012f * r * __sinf(v));
  }
  payoff[i] = fmaxf(price - strike, 0.0f);
}
// Binomial tree of an option, a block each, in shared memory; threads leave as the tree narrows.
extern "C" __global__ void binomial_tree(const float* strikes, float* price, int steps) {
  extern __shared__ float value[];
  float strike = strikes[blockIdx.x] * 40 + 100;
  for (int k = threadIdx.x; k <= steps; k += blockDim.x) {
    float s = 100;
    for (int j = 0; j < steps; ++j) s *= j < k ? 1.01f : 0.990099f;
    value[k] = fmaxf(strike - s, 0.0f);
  }
  for (int level = steps; level > 0; --level) {
    __syncthreads();
    float kept[4];
    int m = 0;
    for (int k = threadIdx.x; k < level; k += blockDim.x) kept[m++ & 3] = 0.4988f * value[k] + 0.5008f * value[k + 1];
    __syncthreads();
    m = 0;
    for (int k = threadIdx.x; k < level; k += blockDim.x) value[k] = kept[m++ & 3];
  }
  if (threadIdx.x == 0) price[blockIdx.x] = value[0];
}
// Julia set in double precision: lanes leave the loop at different times.
extern "C" __global__ void julia(unsigned short* y, int w, int h, double cr, double ci, int most) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (k >= w || r >= h) return;
  double a = 3.0 * k / w - 1.5, b = 3.0 * r / h - 1.5;
  int n = 0;
  while (n < most && a * a + b * b < 4) { double t = a * a - b * b + cr; b = 2 * a * b + ci; a = t; ++n; }
  y[r * w + k] = n;
}
// FFT of 1,024 complex numbers a block, 256 threads, radix 4, through shared memory.
__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
extern "C" __global__ void fft_radix4(const float2* x, float2* y) {
  __shared__ float2 s[1024];
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) s[t + 256 * k] = x[blockIdx.x * 1024 + t + 256 * k];
  for (int size = 1; size < 1024; size *= 4) {
    __syncthreads();
    int j = t & (size - 1);
    float sine, cosine;
    sincospif(-0.5f * j / size, &sine, &cosine);
    float2 w1 = make_float2(cosine, sine), w2 = times(w1, w1), w3 = times(w2, w1);
    float2 a = s[t], b = times(s[t + 256], w1), c = times(s[t + 512], w2), d = times(s[t + 768], w3);
    float2 p = make_float2(a.x + c.x, a.y + c.y), q = make_float2(a.x - c.x, a.y - c.y);
    float2 u = make_float2(b.x + d.x, b.y + d.y), v = make_float2(b.y - d.y, d.x - b.x);
    __syncthreads();
    int to = (t - j) * 4 + j;
    s[to] = make_float2(p.x + u.x, p.y + u.y);
    s[to + size] = make_float2(q.x + v.x, q.y + v.y);
    s[to + 2 * size] = make_float2(p.x - u.x, p.y - u.y);
    s[to + 3 * size] = make_float2(q.x - v.x, q.y - v.y);
  }
  __syncthreads();
  for (int k = 0; k < 4; ++k) y[blockIdx.x * 1024 + t + 256 * k] = s[t + 256 * k];
}
// Inverses of 6 x 6 matrices, one a thread, with a search for pivots: local arrays with moving indices.
extern "C" __global__ void invert_6x6(const float* x, float* y, int n) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= n) return;
  float a[6][12];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) { a[i][j] = x[(i * 6 + j) * n + m]; a[i][j + 6] = i == j; }
  for (int c = 0; c < 6; ++c) {
    int p = c;
    for (int i = c + 1; i < 6; ++i) if (fabsf(a[i][c]) > fabsf(a[p][c])) p = i;
    if (p != c)
      for (int j = 0; j < 12; ++j) { float v = a[c][j]; a[c][j] = a[p][j]; a[p][j] = v; }
    float d = 1 / a[c][c];
    for (int j = 0; j < 12; ++j) a[c][j] *= d;
    for (int i = 0; i < 6; ++i)
      if (i != c) { float f = a[i][c]; for (int j = 0; j < 12; ++j) a[i][j] -= f * a[c][j]; }
  }
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) y[(i * 6 + j) * n + m] = a[i][j + 6];
}
// Tridiagonal systems of 128 rows by cyclic reduction in parallel, a block each.
extern "C" __global__ void cyclic_reduction(const float* low, const float* main, const float* high, const float* right, float* x) {
  __shared__ float a[128], b[128], c[128], d[128];
  int i = threadIdx.x, g = blockIdx.x * 128 + i;
  a[i] = i ? low[g] : 0; b[i] = main[g] + 4; c[i] = i < 127 ? high[g] : 0; d[i] = right[g];
  for (int s = 1; s < 128; s *= 2) {
    __syncthreads();
    float na = 0, nb = b[i], nc = 0, nd = d[i];
    if (i >= s) { float k = a[i] / b[i - s]; na = -k * a[i - s]; nb -= k * c[i - s]; nd -= k * d[i - s]; }
    if (i + s < 128) { float k = c[i] / b[i + s]; nc = -k * c[i + s]; nb -= k * a[i + s]; nd -= k * d[i + s]; }
    __syncthreads();
    a[i] = na; b[i] = nb; c[i] = nc; d[i] = nd;
  }
  x[g] = d[i] / b[i];
}
// Matrix product in double precision: 32 x 32 tiles, 4 numbers a thread.
extern "C" __global__ void dgemm_tile(const double* a, const double* b, double* c, int n) {
  __shared__ double s[32][33], t[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 32 + tx, row = blockIdx.y * 32 + ty;
  double sum[4] = {};
  for (int k0 = 0; k0 < n; k0 += 32) {
    for (int i = 0; i < 32; i += 8) {
      s[ty + i][tx] = a[(row + i) * n + k0 + tx];
      t[ty + i][tx] = b[(k0 + ty + i) * n + col];
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 32; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += s[ty + 8 * i][k] * t[k][tx];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) c[(row + 8 * i) * n + col] = sum[i];
}
// Runge and Kutta's fourth order for Lorenz' equations.
__device__ float3 slope(float3 p) { return make_float3(10 * (p.y - p.x), p.x * (28 - p.z) - p.y, p.x * p.y - 2.6666667f * p.z); }
__device__ float3 moved(float3 p, float3 v, float h) { return make_float3(p.x + h * v.x, p.y + h * v.y, p.z + h * v.z); }
extern "C" __global__ void lorenz(float3* state, int steps, float h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float3 p = state[i];
  for (int s = 0; s < steps; ++s) {
    float3 a = slope(p), b = slope(moved(p, a, h / 2)), c = slope(moved(p, b, h / 2)), d = slope(moved(p, c, h));
    p.x += h / 6 * (a.x + 2 * b.x + 2 * c.x + d.x);
    p.y += h / 6 * (a.y + 2 * b.y + 2 * c.y + d.y);
    p.z += h / 6 * (a.z + 2 * b.z + 2 * c.z + d.z);
  }
  state[i] = p;
}
// Cholesky factors of 16 x 16 matrices x x' + 16: half a warp each, a row a lane, columns by shuffles.
extern "C" __global__ void cholesky_16(const double* x, double* y) {
  int m = (blockIdx.x * blockDim.x + threadIdx.x) / 16, r = threadIdx.x & 15;
  const double* from = x + m * 256;
  double a[16];
#pragma unroll
  for (int c = 0; c < 16; ++c) {
    a[c] = r == c ? 16 : 0;
    for (int k = 0; k < 16; ++k) a[c] += from[r * 16 + k] * from[c * 16 + k];
  }
#pragma unroll
  for (int c = 0; c < 16; ++c) {
    double pivot = sqrt(__shfl_sync(~0u, a[c], c, 16));
    a[c] = r == c ? pivot : a[c] / pivot;
#pragma unroll
    for (int k = c + 1; k < 16; ++k) { double f = __shfl_sync(~0u, a[c], k, 16); if (r > c) a[k] -= a[c] * f; }
  }
#pragma unroll
  for (int c = 0; c < 16; ++c) y[m * 256 + r * 16 + c] = c <= r ? a[c] : 0;
}
// Particles as structures, and as one array a field.
struct Particle { float x, y, z, vx, vy, vz; int kind; };
extern "C" __global__ void particles_structs(Particle* p, float h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle q = p[i];
  if (q.kind % 3) { q.x += h * q.vx; q.y += h * q.vy; q.z += h * q.vz; p[i] = q; }
}
extern "C" __global__ void particles_arrays(float* p, const float* v, const int* kind, float h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || kind[i] % 3 == 0) return;
  for (int d = 0; d < 3; ++d) p[d * n + i] += h * v[d * n + i];
}
