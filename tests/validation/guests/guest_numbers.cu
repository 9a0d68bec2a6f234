// Guests: numbers (launches: launches.toml).
using uint = unsigned;
using ull = unsigned long long;

// The first of many cubes that a ray meets, or -1; a cube is its centre and four times its width, of
// which the sign says nothing.
__device__ void meet(float4 o, float4 v, float4 cube, int k, float& nearest, int& found) {
  float half = fabsf(cube.w) / 8;
  float ax = (cube.x - half - o.x) * v.x, bx = (cube.x + half - o.x) * v.x;
  float ay = (cube.y - half - o.y) * v.y, by = (cube.y + half - o.y) * v.y;
  float az = (cube.z - half - o.z) * v.z, bz = (cube.z + half - o.z) * v.z;
  float in = fmaxf(fmaxf(fminf(ax, bx), fminf(ay, by)), fmaxf(fminf(az, bz), 0.0f));
  float out = fminf(fminf(fmaxf(ax, bx), fmaxf(ay, by)), fmaxf(az, bz));
  if (in <= out && in < nearest) {
    nearest = in;
    found = k;
  }
}
__device__ float4 inverse(float4 v) { return make_float4(1 / v.x, 1 / v.y, 1 / v.z, 0); }
// A ray a thread, cubes from global memory.
extern "C" __global__ void rays_plain(const float4* from, const float4* along, const float4* cubes, int* hit, int n,
                                      int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, found = -1;
  if (i >= n) return;
  float4 o = from[i], v = inverse(along[i]);
  float nearest = 1e30f;
  for (int k = 0; k < m; ++k) meet(o, v, cubes[k], k, nearest, found);
  hit[i] = found;
}
// Cubes from shared memory, 128 at a time.
extern "C" __global__ void rays_tile(const float4* from, const float4* along, const float4* cubes, int* hit, int n,
                                     int m) {
  __shared__ float4 s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x, found = -1;
  float4 o = from[i], v = inverse(along[i]);
  float nearest = 1e30f;
  for (int first = 0; first < m; first += 128) {
    __syncthreads();
    s[threadIdx.x] = cubes[first + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 128; ++k) meet(o, v, s[k], first + k, nearest, found);
  }
  hit[i] = found;
}
// Two rays a thread.
extern "C" __global__ void rays_pairs(const float4* from, const float4* along, const float4* cubes, int* hit, int n,
                                      int m) {
  __shared__ float4 s[128];
  int i = 2 * blockIdx.x * blockDim.x + threadIdx.x, j = i + blockDim.x, found = -1, other = -1;
  float4 o = from[i], v = inverse(along[i]), p = from[j], w = inverse(along[j]);
  float nearest = 1e30f, closest = 1e30f;
  for (int first = 0; first < m; first += 128) {
    __syncthreads();
    s[threadIdx.x] = cubes[first + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 128; ++k) {
      float4 cube = s[k];
      meet(o, v, cube, first + k, nearest, found);
      meet(p, w, cube, first + k, closest, other);
    }
  }
  hit[i] = found;
  hit[j] = other;
}

// Tridiagonal systems of 32 unknowns, in double.  A thread a system; element k of system s stands at s * 32 + k.
template <int Element>
__device__ void eliminate(const double* a, const double* b, const double* c, const double* d, double* x, size_t at,
                          size_t step) {
  double slope[32], rest[32];
  slope[0] = c[at] / b[at];
  rest[0] = d[at] / b[at];
#pragma unroll Element
  for (int k = 1; k < 32; ++k) {
    size_t p = at + k * step;
    double below = 1 / (b[p] - a[p] * slope[k - 1]);
    slope[k] = c[p] * below;
    rest[k] = (d[p] - a[p] * rest[k - 1]) * below;
  }
  double v = rest[31];
  x[at + 31 * step] = v;
#pragma unroll Element
  for (int k = 30; k >= 0; --k) x[at + k * step] = v = rest[k] - slope[k] * v;
}
extern "C" __global__ void __launch_bounds__(128) lines_rows(const double* a, const double* b, const double* c,
                                                             const double* d, double* x, int systems) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s < systems) eliminate<1>(a, b, c, d, x, (size_t)s * 32, 1);
}
// A thread a system; element k of system s stands at k * systems + s.
extern "C" __global__ void __launch_bounds__(128) lines_across(const double* a, const double* b, const double* c,
                                                               const double* d, double* x, int systems) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s < systems) eliminate<32>(a, b, c, d, x, s, systems);
}
// A warp a system, an unknown a lane: five steps of parallel reduction.  Stored as rows.
extern "C" __global__ void lines_warp(const double* a, const double* b, const double* c, const double* d, double* x,
                                      int systems) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  if (i / 32 >= systems) return;
  double p = lane > 0 ? a[i] : 0, q = b[i], r = lane < 31 ? c[i] : 0, s = d[i];
#pragma unroll
  for (int k = 1; k < 32; k *= 2) {
    double up = __shfl_up_sync(~0u, q, k), down = __shfl_down_sync(~0u, q, k);
    double f = lane >= k ? -p / up : 0, g = lane + k < 32 ? -r / down : 0;
    double pu = __shfl_up_sync(~0u, p, k), ru = __shfl_up_sync(~0u, r, k), su = __shfl_up_sync(~0u, s, k);
    double pd = __shfl_down_sync(~0u, p, k), rd = __shfl_down_sync(~0u, r, k), sd = __shfl_down_sync(~0u, s, k);
    q += f * ru + g * pd;
    s += f * su + g * sd;
    p = f * pu;
    r = g * rd;
  }
  x[i] = s / q;
}

// Eigenvalues of symmetric 3 x 3 matrices in double, least first: four rounds of Jacobi's rotations.
__device__ void rotate(double& pp, double& qq, double& pq, double& rp, double& rq) {
  double theta = (qq - pp) / (2 * pq);
  double t = pq == 0 ? 0 : copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1), s = t * c, first = rp;
  pp -= t * pq;
  qq += t * pq;
  pq = 0;
  rp = c * first - s * rq;
  rq = s * first + c * rq;
}
__device__ void order(double& a, double& b) {
  double low = fmin(a, b);
  b = fmax(a, b);
  a = low;
}
extern "C" __global__ void eigenvalues_3(const double* m, double* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double xx = m[i], yy = m[n + i], zz = m[2 * n + i], xy = m[3 * n + i], xz = m[4 * n + i], yz = m[5 * n + i];
  for (int round = 0; round < 4; ++round) {
    rotate(xx, yy, xy, xz, yz);
    rotate(xx, zz, xz, xy, yz);
    rotate(yy, zz, yz, xy, xz);
  }
  order(xx, yy);
  order(yy, zz);
  order(xx, yy);
  values[i] = xx;
  values[n + i] = yy;
  values[2 * n + i] = zz;
}

// Number theoretic transforms of rows of 256, modulo 998244353: a block of 128 a row.
constexpr uint PRIME = 998244353;
__device__ uint times(uint a, uint b) { return (uint)((ull)a * b % PRIME); }
extern "C" __global__ void modular_transform(const uint* x, uint* y, const uint* roots, int rows) {
  __shared__ uint s[256], w[128];
  int t = threadIdx.x;
  w[t] = roots[t];
  for (int k = t; k < 256; k += 128) s[__brev(k) >> 24] = x[blockIdx.x * 256 + k];
  for (int half = 1; half < 256; half *= 2) {
    __syncthreads();
    int k = t & (half - 1), at = (t - k) * 2 + k;
    uint a = s[at], b = times(s[at + half], w[k * (128 / half)]);
    s[at] = a + b >= PRIME ? a + b - PRIME : a + b;
    s[at + half] = a >= b ? a - b : a + PRIME - b;
  }
  __syncthreads();
  for (int k = t; k < 256; k += 128) y[blockIdx.x * 256 + k] = s[k];
}
// Powers modulo odd 64-bit numbers, by Montgomery's products; exponents have 32 bits.
__device__ ull product(ull a, ull b, ull modulus, ull inverse) {
  ull low = a * b, high = __umul64hi(a, b), m = low * inverse, carry = __umul64hi(m, modulus);
  return high >= carry ? high - carry : high - carry + modulus;
}
extern "C" __global__ void powers_64(const ull* base, const uint* exponent, ull* y, ull modulus, ull inverse, ull one,
                                     ull square, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ull b = product(base[i] % modulus, square, modulus, inverse), v = one;
  for (uint e = exponent[i]; e; e >>= 1) {
    if (e & 1) v = product(v, b, modulus, inverse);
    b = product(b, b, modulus, inverse);
  }
  y[i] = product(v, 1, modulus, inverse);
}
// Paths of a price whose variance wanders too (Heston): what a call at 1 pays at the end of each.
__device__ uint shifted(uint& s) {
  s ^= s << 13;
  s ^= s >> 17;
  return s ^= s << 5;
}
extern "C" __global__ void price_paths(const uint* seeds, float* pays, float step, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint s = seeds[i] | 1;
  float price = 1, variance = 0.04f, root = sqrtf(step);
  for (int k = 0; k < steps; ++k) {
    float u = ((shifted(s) >> 8) + 0.5f) * 0x1p-24f, angle = (shifted(s) >> 8) * 0x1p-24f;
    float radius = sqrtf(-2 * logf(u)), a, b;
    sincospif(2 * angle, &a, &b);
    a *= radius;
    b = -0.7f * a + 0.71414284f * b * radius;
    float up = fmaxf(variance, 0.0f), spread = sqrtf(up) * root;
    price += price * (0.03f * step + spread * a);
    variance += 1.5f * (0.04f - up) * step + 0.3f * spread * b;
  }
  pays[i] = fmaxf(price - 1, 0.0f);
}
// Sobol's numbers: a dimension a row of the grid, eight points a thread by Gray codes.
extern "C" __global__ void sobol_points(const uint* directions, float* y, int n) {
  __shared__ uint v[32];
  int d = blockIdx.y, first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (threadIdx.x < 32) v[threadIdx.x] = directions[32 * d + threadIdx.x];
  __syncthreads();
  if (first >= n) return;
  uint code = first ^ first >> 1, x = 0;
  for (int k = 0; k < 32; ++k)
    if (code >> k & 1) x ^= v[k];
  float* out = y + (size_t)d * n + first;
  for (int k = 0; k < 8; ++k) {
    out[k] = (x >> 8) * 0x1p-24f;
    x ^= v[__ffs(~(first + k)) - 1];
  }
}
// Forces of Lennard-Jones between each particle and 64 neighbours, listed as how far on they stand.
extern "C" __global__ void near_forces(const float4* place, const unsigned short* neighbours, float* force, float cut,
                                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = place[i];
  float x = 0, y = 0, z = 0;
  for (int k = 0; k < 64; ++k) {
    float4 q = place[(i + neighbours[k * n + i]) & (n - 1)];
    float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, r2 = dx * dx + dy * dy + dz * dz + 0.05f;
    if (r2 < cut) {
      float inv = 1 / r2, six = inv * inv * inv * 1e-4f, f = six * inv * (six - 0.5f);
      x += f * dx;
      y += f * dy;
      z += f * dz;
    }
  }
  force[i] = x;
  force[n + i] = y;
  force[2 * n + i] = z;
}
