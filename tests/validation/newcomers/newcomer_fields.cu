// Newcomers: fields, particles, options, light and bits on the air (launches: launches.toml).
#include <cuda_fp16.h>
using uchar = unsigned char;
using uint = unsigned int;

// What options to buy and to sell are worth (Black and Scholes), in double; as many blocks as stay.
extern "C" __global__ void black_scholes(const double* spot, const double* strike, const double* years, double* call,
                                         double* put, double rate, double sigma, int n) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
    const double s = spot[k], x = strike[k], t = years[k], wide = sigma * sqrt(t);
    const double d = (log(s / x) + (rate + 0.5 * sigma * sigma) * t) / wide;
    const double later = x * exp(-rate * t), a = normcdf(d), b = normcdf(d - wide);
    call[k] = s * a - later * b;
    put[k] = later * (1 - b) - s * (1 - a);
  }
}

// A step of sound in ground of different speeds, of the fourth order; near the border it is damped.  What was before
// becomes what comes next.
struct Ground {
  const float *speed, *now;
  float* before;
  int w, h, border;
};
__device__ float damping(int x, int y, const Ground& g) {
  const int near = min(min(x, g.w - 1 - x), min(y, g.h - 1 - y)), deep = g.border - near;
  return deep > 0 ? __expf(-0.0002f * deep * deep) : 1.0f;
}
extern "C" __global__ void ground_step(const float* speed, const float* now, float* before, int w, int h, int border) {
  const Ground g{speed, now, before, w, h, border};
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= g.w - 2 || y >= g.h - 2) return;
  const int at = y * g.w + x;
  const float* u = g.now + at;
  const float near = u[-1] + u[1] + u[-g.w] + u[g.w], far = u[-2] + u[2] + u[-2 * g.w] + u[2 * g.w];
  const float by = damping(x, y, g);
  g.before[at] = by * (2 * u[0] - by * g.before[at] + g.speed[at] * (16 * near - far - 60 * u[0]) / 12);
}

// Half a sweep of successive over-relaxation in a cube of w x w x w, cells of one colour, in place; the sides stay.
extern "C" __global__ void relax_colour(float* u, const float* f, float omega, int colour, int w) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y + 1, z = blockIdx.z * blockDim.z + threadIdx.z + 1;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + (y + z + colour) % 2;
  if (x >= w - 1 || y >= w - 1 || z >= w - 1) return;
  const int at = (z * w + y) * w + x;
  const float around = u[at - 1] + u[at + 1] + u[at - w] + u[at + w] + u[at - w * w] + u[at + w * w];
  u[at] += omega * ((around - f[at]) / 6 - u[at]);
}

// How dense a fluid of particles is, and its pressure (SPH): cells of a periodic cube have up to eight particles each,
// where they stand in their cell, and a particle reaches as far as a cell is wide.  A place a thread.
extern "C" __global__ void fluid_density(const float* x, const float* y, const float* z, const uchar* count,
                                         float* density, float* pressure, int side) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x, cell = at / 8;
  if (cell >= side * side * side || at % 8 >= count[cell]) return;
  const int cx = cell % side, cy = cell / side % side, cz = cell / side / side;
  const float px = x[at], py = y[at], pz = z[at];
  float sum = 0;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int other =
            ((cz + dz + side) % side * side + (cy + dy + side) % side) * side + (cx + dx + side) % side;
        for (int k = 8 * other, end = k + count[other]; k < end; ++k) {
          const float a = x[k] + dx - px, b = y[k] + dy - py, c = z[k] + dz - pz, near = 1 - (a * a + b * b + c * c);
          if (near > 0) sum += near * near * near;
        }
      }
  const float rho = 1.5666815f * sum;  // 315 / (64 pi)
  density[at] = rho;
  pressure[at] = 0.14285715f * (powf(rho * 0.25f, 7) - 1);
}

// What a row of n cells of a periodic field gains in a step of advection with speed one: flows through the cells' faces
// of the fifth order (WENO), in double; 126 cells a block.
__device__ double square(double v) { return v * v; }
__device__ double face_flow(double a, double b, double c, double d, double e) {
  const double p = (2 * a - 7 * b + 11 * c) / 6, q = (-b + 5 * c + 2 * d) / 6, r = (2 * c + 5 * d - e) / 6;
  const double rough_p = 13.0 / 12 * square(a - 2 * b + c) + 0.25 * square(a - 4 * b + 3 * c);
  const double rough_q = 13.0 / 12 * square(b - 2 * c + d) + 0.25 * square(b - d);
  const double rough_r = 13.0 / 12 * square(c - 2 * d + e) + 0.25 * square(3 * c - 4 * d + e);
  const double u = 0.1 / square(1e-6 + rough_p), v = 0.6 / square(1e-6 + rough_q), w = 0.3 / square(1e-6 + rough_r);
  return (u * p + v * q + w * r) / (u + v + w);
}
extern "C" __global__ void upwind_fifth(const double* u, double* gain, double by, int n) {
  __shared__ double cells[132], flow[128];
  const int t = threadIdx.x, first = 126 * blockIdx.x;
  const double* row = u + (size_t)blockIdx.y * n;
  for (int k = t; k < 132; k += 128) cells[k] = row[(first + k - 3 + n) % n];
  __syncthreads();
  flow[t] = face_flow(cells[t], cells[t + 1], cells[t + 2], cells[t + 3], cells[t + 4]);
  __syncthreads();
  if (t < 126 && first + t < n) gain[(size_t)blockIdx.y * n + first + t] = by * (flow[t] - flow[t + 1]);
}

// A scene of balls: for each pixel the first ball that its ray meets, whether light comes there, and what is mirrored.
struct Ray {
  float3 from, to;
};
__device__ float3 add(float3 a, float3 b, float s) { return make_float3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z); }
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float3 unit(float3 a) {
  const float s = rsqrtf(dot(a, a));
  return make_float3(s * a.x, s * a.y, s * a.z);
}
struct Scene {
  const float4* balls;
  int count;
  __device__ float meets(const Ray& ray, int k) const {
    const float4 b = balls[k];
    const float3 off = make_float3(b.x - ray.from.x, b.y - ray.from.y, b.z - ray.from.z);
    const float along = dot(off, ray.to), inner = b.w * b.w - dot(off, off) + along * along;
    if (inner < 0) return -1;
    return along - sqrtf(inner);
  }
  __device__ int first(const Ray& ray, float& far) const {
    int found = -1;
    far = 1e9f;
    for (int k = 0; k < count; ++k) {
      const float t = meets(ray, k);
      if (t > 1e-3f && t < far) { far = t; found = k; }
    }
    return found;
  }
  __device__ bool dark(const Ray& ray) const {
    for (int k = 0; k < count; ++k)
      if (meets(ray, k) > 1e-3f) return true;
    return false;
  }
};
extern "C" __global__ void balls_seen(const float* centre, const float* radius, const float* colour, __half* picture,
                                      int count, int bounces, int w, int h) {
  __shared__ float4 near[64];
  for (int k = threadIdx.y * 16 + threadIdx.x; k < count; k += 128) 
    near[k] = make_float4(centre[3 * k], centre[3 * k + 1], centre[3 * k + 2], radius[k]);
  __syncthreads();
  const Scene scene{near, count};
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h) return;
  Ray ray{make_float3(0, 0, -4), unit(make_float3((x + 0.5f - 0.5f * w) / h, (y + 0.5f - 0.5f * h) / h, 1))};
  const float3 light = unit(make_float3(-1, -2, -1.5f));
  float3 seen = make_float3(0, 0, 0);
  float part = 1;
  for (int step = 0; step <= bounces; ++step) {
    float far;
    const int k = scene.first(ray, far);
    if (k < 0) {
      seen = add(seen, make_float3(0.3f, 0.4f, 0.6f), part * (1 - 0.5f * ray.to.y));
      break;
    }
    const float3 at = add(ray.from, ray.to, far);
    const float3 up = unit(make_float3(at.x - near[k].x, at.y - near[k].y, at.z - near[k].z));
    float bright = 0.15f;
    const float facing = dot(up, light);
    if (facing > 0 && !scene.dark(Ray{at, light})) bright += 0.7f * facing;
    seen = add(seen, make_float3(colour[3 * k], colour[3 * k + 1], colour[3 * k + 2]), part * bright);
    part *= 0.4f;
    ray = Ray{at, add(ray.to, up, -2 * dot(ray.to, up))};
  }
  const int pixel = 3 * (y * w + x);
  picture[pixel] = __float2half(seen.x);
  picture[pixel + 1] = __float2half(seen.y);
  picture[pixel + 2] = __float2half(seen.z);
}

// Which points lie in a polygon, in whole numbers: corners come to shared memory, 256 at a time.
struct Corner {
  short x, y;
};
extern "C" __global__ void points_inside(const Corner* corner, const Corner* point, uchar* lies, int corners, int n) {
  __shared__ Corner some[257];
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const Corner p = at < n ? point[at] : Corner{0, 0};
  bool in = false;
  for (int start = 0; start < corners; start += 256) {
    const int here = min(256, corners - start);
    for (int k = threadIdx.x; k <= here; k += blockDim.x) some[k] = corner[(start + k) % corners];
    __syncthreads();
    for (int k = 0; k < here; ++k) {
      const Corner a = some[k], b = some[k + 1];
      if ((a.y > p.y) == (b.y > p.y)) continue;
      const long long turn = (long long)(b.x - a.x) * (p.y - a.y) - (long long)(p.x - a.x) * (b.y - a.y);
      if ((turn > 0) == (b.y > a.y)) in = !in;
    }
    __syncthreads();
  }
  if (at < n) lies[at] = in;
}

// Bits from what came over the air (Viterbi, the code 171, 133 of 64 states): frames of `steps` pairs of soft bits, 64
// threads a frame, a state each; what was chosen stays in shared memory, and one thread goes back.
extern "C" __global__ void viterbi_frames(const char2* soft, uint* bits, int steps) {
  __shared__ int metric[2][64];
  __shared__ uint chosen[256][2];
  const int state = threadIdx.x, before = 2 * state % 64;  // or one more; the bit that comes in is the state's highest
  const char2* mine = soft + (size_t)blockIdx.x * steps;
  metric[0][state] = state ? -100000 : 0;
  const int code = (state >> 5 << 6) | before;
  const bool first = __popc(code & 0171) & 1, second = __popc(code & 0133) & 1;
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const char2 heard = mine[step];
    const int gain = (first ? heard.x : -heard.x) + (second ? heard.y : -heard.y);
    const int* old = metric[step % 2];
    const int a = old[before] + gain, b = old[before + 1] - gain;  // the oldest bit turns both
    metric[(step + 1) % 2][state] = max(a, b);
    const uint all = __ballot_sync(0xffffffffu, b > a);
    if (state % 32 == 0) chosen[step][state / 32] = all;
    __syncthreads();
  }
  if (state > 0) return;
  int at = 0;
  uint word = 0;
  for (int step = steps - 1; step >= 0; --step) {
    word |= (uint)(at >> 5) << step % 32;
    if (step % 32 == 0) {
      bits[blockIdx.x * (steps / 32) + step / 32] = word;
      word = 0;
    }
    at = 2 * at % 64 + (chosen[step][at / 32] >> at % 32 & 1);
  }
}
