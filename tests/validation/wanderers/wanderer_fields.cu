// Wanderers: water, cloth, molecules, orbits, meshes and points (launches: launches.toml).
#include <cuda_pipeline.h>
#include <cstdint>

// A step of shallow water by Rusanov's fluxes; water does not leave over the edge.
struct Water {
  float depth, u, v;  // u and v: what flows across and down, times the depth
};
__device__ Water operator+(Water a, Water b) { return {a.depth + b.depth, a.u + b.u, a.v + b.v}; }
__device__ Water operator-(Water a, Water b) { return {a.depth - b.depth, a.u - b.u, a.v - b.v}; }
__device__ Water operator*(float f, Water a) { return {f * a.depth, f * a.u, f * a.v}; }

constexpr float gravity = 9.81f;
__device__ Water along(Water w) {
  const float speed = w.u / w.depth;
  return {w.u, w.u * speed + 0.5f * gravity * w.depth * w.depth, w.v * speed};
}
__device__ Water turned(Water w) { return {w.depth, w.v, w.u}; }
__device__ float fastest(Water w) { return fabsf(w.u) / w.depth + sqrtf(gravity * w.depth); }
__device__ Water flux(Water a, Water b) {
  return 0.5f * (along(a) + along(b)) - 0.5f * fmaxf(fastest(a), fastest(b)) * (b - a);
}
struct Sea {
  const float *depth, *u, *v;
  int w, h;
  __device__ Water at(int x, int y) const {
    const int inside = min(max(y, 0), h - 1) * w + min(max(x, 0), w - 1);
    const bool across = x < 0 || x >= w, down = y < 0 || y >= h;
    return {depth[inside], across ? -u[inside] : u[inside], down ? -v[inside] : v[inside]};
  }
};
extern "C" __global__ void water_step(const float* depth, const float* u, const float* v, float* new_depth,
                                      float* new_u, float* new_v, float share, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const Sea sea{depth, u, v, w, h};
  const Water mine = sea.at(x, y);
  const Water across = flux(mine, sea.at(x + 1, y)) - flux(sea.at(x - 1, y), mine);
  const Water down = flux(turned(mine), turned(sea.at(x, y + 1))) - flux(turned(sea.at(x, y - 1)), turned(mine));
  const Water now = mine - share * (across + turned(down));
  new_depth[y * w + x] = now.depth;
  new_u[y * w + x] = now.u;
  new_v[y * w + x] = now.v;
}

// A step of a cloth: knots hang on their twelve neighbours by springs and fall; the upper row is held (Verlet's way).
__device__ float3 pull(float4 me, float4 other, float rest) {
  const float3 d = {other.x - me.x, other.y - me.y, other.z - me.z};
  const float back = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + 1e-12f), force = 1 - rest * back;
  return {force * d.x, force * d.y, force * d.z};
}
extern "C" __global__ void cloth_step(const float4* now, const float4* before, float4* then, float rest,
                                      float stiffness, int w, int h) {
  constexpr int8_t dx[12] = {1, -1, 0, 0, 1, 1, -1, -1, 2, -2, 0, 0}, dy[12] = {0, 0, 1, -1, 1, -1, 1, -1, 0, 0, 2, -2};
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const int at = y * w + x;
  const float4 me = now[at];
  if (y == 0) {
    then[at] = me;
    return;
  }
  float3 force = {0, -0.01f, 0};
#pragma unroll
  for (int k = 0; k < 12; ++k) {
    const int nx = x + dx[k], ny = y + dy[k];
    if (nx < 0 || ny < 0 || nx >= w || ny >= h) continue;
    const float length = k < 4 ? rest : k < 8 ? 1.4142135f * rest : 2 * rest;
    const float3 f = pull(me, now[ny * w + nx], length);
    force.x += stiffness * f.x, force.y += stiffness * f.y, force.z += stiffness * f.z;
  }
  const float4 last = before[at];
  then[at] = make_float4(1.99f * me.x - 0.99f * last.x + force.x, 1.99f * me.y - 0.99f * last.y + force.y,
                         1.99f * me.z - 0.99f * last.z + force.z, me.w);
}

// The energy of torsions: the angle between two planes through four atoms, by names of atoms and kinds of torsions; and
// the force on the first atom.
struct Torsion {
  float strength, times, shift, unused;
};
__device__ float3 minus(float4 a, float4 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float3 cross(float3 a, float3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
extern "C" __global__ void torsions(const float4* atoms, const int4* names, const uint8_t* kinds, const Torsion* table,
                                    float* energy, float4* forces, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int4 name = names[i];
  const Torsion kind = table[kinds[i]];
  const float4 second = atoms[name.y], third = atoms[name.z];
  const float3 one = minus(second, atoms[name.x]), axis = minus(third, second), two = minus(atoms[name.w], third);
  const float3 p = cross(one, axis), q = cross(axis, two);
  const float pp = dot(p, p), qq = dot(q, q), length = sqrtf(dot(axis, axis));
  if (pp < 1e-4f || qq < 1e-4f) return;  // in a line
  const float angle = atan2f(length * dot(one, q), dot(p, q)), phase = kind.times * angle - kind.shift;
  float sine, cosine;
  sincosf(phase, &sine, &cosine);
  energy[i] = kind.strength * (1 + cosine);
  const float force = kind.strength * kind.times * sine * length / pp;
  forces[i] = make_float4(-force * p.x, -force * p.y, -force * p.z, 0);
}

// Orbits around a mass of one, in double, by steps of the third order that are made half or twice as long as the error
// of the second asks for (Bogacki and Shampine); an orbit a thread, each with steps of its own.
struct Place {
  double x, y, u, v;
};
__device__ Place moved(Place a, double f, Place b) {
  return {a.x + f * b.x, a.y + f * b.y, a.u + f * b.u, a.v + f * b.v};
}
__device__ Place slope(Place p) {
  const double square = p.x * p.x + p.y * p.y, back = 1 / (square * sqrt(square));
  return {p.u, p.v, -p.x * back, -p.y * back};
}
extern "C" __global__ void orbits(const double* radius, const double* speed, double4* ends, int* taken, double until,
                                  double tolerance, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Place p{radius[i], 0, 0, speed[i]}, k1 = slope(p);
  double time = 0, h = 0.0625;
  int steps = 0;
  while (time < until) {
    const Place k2 = slope(moved(p, 0.5 * h, k1)), k3 = slope(moved(p, 0.75 * h, k2));
    const Place next = moved(moved(moved(p, 2.0 / 9 * h, k1), 1.0 / 3 * h, k2), 4.0 / 9 * h, k3);
    const Place k4 = slope(next);
    const Place off = moved(moved(moved(moved({}, -5.0 / 72, k1), 1.0 / 12, k2), 1.0 / 9, k3), -1.0 / 8, k4);
    const double error = h * fmax(fabs(off.x) + fabs(off.y), fabs(off.u) + fabs(off.v));
    ++steps;
    if (error > tolerance) {
      h *= 0.5;
      continue;
    }
    p = next;
    k1 = k4;
    time += h;
    if (error < 0.1 * tolerance) h *= 2;
  }
  ends[i] = make_double4(p.x, p.y, p.u, p.v);
  taken[i] = steps;
}

// Normals at the corners of a mesh: sums over the triangles there (six at most, listed); each names its corners.
extern "C" __global__ void corner_normals(const float* corners, const int* triangles, const int* around,
                                          const uint8_t* many, float* normals, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  auto corner = [&](int k) { return make_float4(corners[3 * k], corners[3 * k + 1], corners[3 * k + 2], 0); };
  float3 sum = {0, 0, 0};
  for (int k = 0; k < many[at]; ++k) {
    const int* triangle = triangles + 3 * around[6 * at + k];
    const float4 a = corner(triangle[0]);
    const float3 normal = cross(minus(corner(triangle[1]), a), minus(corner(triangle[2]), a));
    sum.x += normal.x, sum.y += normal.y, sum.z += normal.z;
  }
  const float square = dot(sum, sum), back = square > 0 ? rsqrtf(square) : 0;
  normals[3 * at] = sum.x * back;
  normals[3 * at + 1] = sum.y * back;
  normals[3 * at + 2] = sum.z * back;
}

// The six nearest of m points for each of n, in whole numbers: 128 points at a time come to shared memory while those
// before are looked at.
constexpr int group = 128, wanted = 6;
extern "C" __global__ void __launch_bounds__(group)
    nearest_six(const short4* points, const short4* asked, int* squares, int* names, int m, int n) {
  __shared__ short4 near[2][group];
  const int t = threadIdx.x, i = blockIdx.x * group + t;
  const short4 me = asked[min(i, n - 1)];
  int best[wanted], name[wanted];
#pragma unroll
  for (int k = 0; k < wanted; ++k) best[k] = 0x7fffffff, name[k] = -1;
  auto bring = [&](int from) {
    if (from + t < m) __pipeline_memcpy_async(&near[from / group & 1][t], points + from + t, sizeof(short4));
    __pipeline_commit();
  };
  bring(0);
  for (int from = 0; from < m; from += group) {
    bring(from + group);
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int k = 0; k < min(group, m - from); ++k) {
      const short4 other = near[from / group & 1][k];
      const int dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      int square = dx * dx + dy * dy + dz * dz, which = from + k;
      if (square >= best[wanted - 1]) continue;
#pragma unroll
      for (int place = 0; place < wanted; ++place)
        if (square < best[place]) {
          const int further = best[place], its = name[place];
          best[place] = square, name[place] = which;
          square = further, which = its;
        }
    }
    __syncthreads();
  }
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < wanted; ++k) {
    squares[k * n + i] = best[k];
    names[k * n + i] = name[k];
  }
}
