// Travellers: meshes, flows, charges, stars and particles (launches: launches.toml).
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ull = unsigned long long;

// Points of a mesh and the directions in which it looks there are moved by up to four of 64 bones (skinning): a bone is
// three rows of a turn and a move.
struct Bone { float4 rows[3]; };
struct Mixed {
  float4 rows[3];
  __device__ Mixed() : rows{} {}
  __device__ void mix(const Bone& bone, float by) {
#pragma unroll
    for (int r = 0; r < 3; ++r) {
      rows[r].x = fmaf(by, bone.rows[r].x, rows[r].x);
      rows[r].y = fmaf(by, bone.rows[r].y, rows[r].y);
      rows[r].z = fmaf(by, bone.rows[r].z, rows[r].z);
      rows[r].w = fmaf(by, bone.rows[r].w, rows[r].w);
    }
  }
  __device__ float3 turned(float3 v) const {
    return make_float3(rows[0].x * v.x + rows[0].y * v.y + rows[0].z * v.z,
                       rows[1].x * v.x + rows[1].y * v.y + rows[1].z * v.z,
                       rows[2].x * v.x + rows[2].y * v.y + rows[2].z * v.z);
  }
  __device__ float3 moved(float3 v) const {
    const float3 u = turned(v);
    return make_float3(u.x + rows[0].w, u.y + rows[1].w, u.z + rows[2].w);
  }
};
__device__ Mixed mixed(const Bone* bones, uchar4 who, float4 by) {
  Mixed m;
  m.mix(bones[who.x], by.x);
  m.mix(bones[who.y], by.y);
  m.mix(bones[who.z], by.z);
  m.mix(bones[who.w], by.w);
  return m;
}
// Bones from global memory, points as they stand.
extern "C" __global__ void skin_plain(const Bone* bones, const uchar4* who, const float4* by, const float3* point,
                                      const float3* look, float3* to_point, float3* to_look, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Mixed m = mixed(bones, who[i], by[i]);
  to_point[i] = m.moved(point[i]);
  to_look[i] = m.turned(look[i]);
}
// Bones from shared memory; as many blocks as stay.
extern "C" __global__ void skin_bones(const float4* bones, const uchar4* who, const float4* by, const float3* point,
                                      const float3* look, float3* to_point, float3* to_look, int n) {
  __shared__ Bone kept[64];
  for (int k = threadIdx.x; k < 192; k += blockDim.x) kept[k / 3].rows[k % 3] = bones[k];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const Mixed m = mixed(kept, who[i], by[i]);
    to_point[i] = m.moved(point[i]);
    to_look[i] = m.turned(look[i]);
  }
}
// Points come and go in words of 16 bytes, by way of shared memory; a block has 128 of them.
__device__ void copied(float4* to, const float4* from) {
  if (threadIdx.x < 96) to[threadIdx.x] = from[threadIdx.x];
}
extern "C" __global__ void skin_words(const Bone* bones, const uchar4* who, const float4* by, const float4* point,
                                      const float4* look, float4* to_point, float4* to_look, int n) {
  __shared__ float4 points[96], looks[96];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  copied(points, point + blockIdx.x * 96);
  copied(looks, look + blockIdx.x * 96);
  const Mixed m = mixed(bones, who[i], by[i]);
  __syncthreads();
  float3 *a = reinterpret_cast<float3*>(points) + t, *b = reinterpret_cast<float3*>(looks) + t;
  *a = m.moved(*a);
  *b = m.turned(*b);
  __syncthreads();
  copied(to_point + blockIdx.x * 96, points);
  copied(to_look + blockIdx.x * 96, looks);
}

// A step of a gas in two dimensions (Euler's equations): what flows between cells by the waves at their border (HLL).
struct Gas {
  float mass, x, y, energy;
  __device__ Gas operator+(Gas o) const { return {mass + o.mass, x + o.x, y + o.y, energy + o.energy}; }
  __device__ Gas operator-(Gas o) const { return {mass - o.mass, x - o.x, y - o.y, energy - o.energy}; }
  __device__ Gas operator*(float f) const { return {mass * f, x * f, y * f, energy * f}; }
  __device__ float pressure() const { return 0.4f * (energy - 0.5f * (x * x + y * y) / mass); }
  __device__ Gas turned() const { return {mass, y, x, energy}; }
};
struct Field {
  const float *mass, *x, *y, *energy;
  int w, h;
  __device__ Gas at(int u, int v) const {
    const int i = min(max(v, 0), h - 1) * w + min(max(u, 0), w - 1);
    return {mass[i], x[i], y[i], energy[i]};
  }
};
__device__ Gas flow(Gas a, Gas b) {
  const float p = a.pressure(), q = b.pressure(), u = a.x / a.mass, v = b.x / b.mass;
  const float c = sqrtf(1.4f * p / a.mass), d = sqrtf(1.4f * q / b.mass);
  const float slow = fminf(u - c, v - d), fast = fmaxf(u + c, v + d);
  const Gas left{a.x, a.x * u + p, a.y * u, (a.energy + p) * u}, right{b.x, b.x * v + q, b.y * v, (b.energy + q) * v};
  if (slow >= 0) return left;
  if (fast <= 0) return right;
  return (left * fast - right * slow + (b - a) * (slow * fast)) * (1 / (fast - slow));
}
extern "C" __global__ void euler_step(const float* mass, const float* x, const float* y, const float* energy, float* to,
                                      float by, int w, int h) {
  const int u = blockIdx.x * blockDim.x + threadIdx.x, v = blockIdx.y * blockDim.y + threadIdx.y;
  if (u >= w || v >= h) return;
  const Field field{mass, x, y, energy, w, h};
  const Gas here = field.at(u, v);
  const Gas across = flow(field.at(u - 1, v), here) - flow(here, field.at(u + 1, v));
  const Gas down = flow(field.at(u, v - 1).turned(), here.turned()) - flow(here.turned(), field.at(u, v + 1).turned());
  const Gas next = here + (across + down.turned()) * by;
  const size_t i = (size_t)v * w + u, all = (size_t)w * h;
  to[i] = next.mass;
  to[all + i] = next.x;
  to[2 * all + i] = next.y;
  to[3 * all + i] = next.energy;
}

// Diffusion in double with all 26 neighbours: weights for those at a face, an edge, a corner; the border stays.
template <typename T> struct Cube {
  const T* x;
  int w;
  __device__ T operator()(int u, int v, int s) const { return x[((size_t)s * w + v) * w + u]; }
  __device__ T line(int u, int v, int s) const { return (*this)(u - 1, v, s) + (*this)(u + 1, v, s); }
};
extern "C" __global__ void diffusion_27(const double* from, double* to, double face, double edge, double corner, int w) {
  const int u = blockIdx.x * 16 + threadIdx.x, v = blockIdx.y * 4 + threadIdx.y, s = blockIdx.z * 2 + threadIdx.z;
  if (u >= w || v >= w || s >= w) return;
  const Cube<double> x{from, w};
  double sum = x(u, v, s);
  if (u > 0 && v > 0 && s > 0 && u < w - 1 && v < w - 1 && s < w - 1) {
    const double faces = x.line(u, v, s) + x(u, v - 1, s) + x(u, v + 1, s) + x(u, v, s - 1) + x(u, v, s + 1);
    double edges = 0, corners = 0;
    for (int k = -1; k <= 1; k += 2) {
      edges += x.line(u, v + k, s) + x.line(u, v, s + k) + x(u, v + k, s - 1) + x(u, v + k, s + 1);
      corners += x.line(u, v + k, s - 1) + x.line(u, v + k, s + 1);
    }
    sum += face * (faces - 6 * sum) + edge * (edges - 12 * sum) + corner * (corners - 8 * sum);
  }
  to[((size_t)s * w + v) * w + u] = sum;
}

// Charges are spread over the 4 x 4 x 4 nearest places of a periodic grid of 64 x 64 x 64 by cubic splines, in integers,
// so that the order does not matter.  A place is 6 bits of a coordinate, the other 10 are where between.
__device__ void spline(int f, int* weight) {  // a 1536th each, at most
  const long long g = 1024 - f, cube = (long long)f * f * f, unit = 1024;
  weight[0] = (int)((g * g * g) >> 22);
  weight[1] = (int)((3 * cube - 6 * unit * f * f + 4 * unit * unit * unit) >> 22);
  weight[2] = (int)((-3 * cube + 3 * unit * f * f + 3 * unit * unit * f + unit * unit * unit) >> 22);
  weight[3] = (int)(cube >> 22);
}
extern "C" __global__ void charge_spread(const ushort* places, const signed char* charge, ull* grid, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int first[3], weight[3][4];
  for (int axis = 0; axis < 3; ++axis) {
    const int place = places[3 * i + axis];
    first[axis] = place >> 10;
    spline(place & 1023, weight[axis]);
  }
  for (int c = 0; c < 4; ++c)
    for (int b = 0; b < 4; ++b) {
      ull* row = grid + (((first[2] + c) & 63) * 64 + ((first[1] + b) & 63)) * 64;
      const long long part = (long long)charge[i] * weight[2][c] * weight[1][b];
#pragma unroll
      for (int a = 0; a < 4; ++a) atomicAdd(row + ((first[0] + a) & 63), (ull)(part * weight[0][a]));
    }
}

// How strongly a tree of cubes draws points: a cube counts as one where it is far for its size, else its eight parts do
// (Barnes and Hut).  Cubes of `depth` steps, whose masses follow each other by step and in Morton's order.
struct Cell { int x, y, z; };
__device__ Cell middle(uint morton, int step) {
  Cell c{0, 0, 0};
  for (int bit = 0; bit < step; ++bit) {
    c.x |= (morton >> 3 * bit & 1) << bit;
    c.y |= (morton >> (3 * bit + 1) & 1) << bit;
    c.z |= (morton >> (3 * bit + 2) & 1) << bit;
  }
  const int size = 4096 >> step;
  return {c.x * size + size / 2, c.y * size + size / 2, c.z * size + size / 2};
}
extern "C" __global__ void tree_gravity(const float* masses, const ushort4* points, float4* y, int depth, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const ushort4 point = points[i];
  float4 sum = make_float4(0, 0, 0, 0);
  int step = 0, before = 0;  // cubes of smaller steps
  uint at = 0;
  while (true) {
    const Cell c = middle(at, step);
    const int dx = c.x - point.x, dy = c.y - point.y, dz = c.z - point.z, square = dx * dx + dy * dy + dz * dz + 16;
    const int size = 4096 >> step;
    if (step < depth && square < size * size) {
      before = 8 * before + 1;
      at *= 8;
      ++step;
      continue;
    }
    const float near = rsqrtf((float)square), pull = masses[before + at] * near;
    sum.w += pull;
    sum.x += pull * near * near * dx;
    sum.y += pull * near * near * dy;
    sum.z += pull * near * near * dz;
    while (step > 0 && (at & 7) == 7) {
      at >>= 3;
      before = (before - 1) / 8;
      --step;
    }
    if (step == 0) break;
    ++at;
  }
  y[i] = sum;
}

// Neutrons walk through a plate: how far a flight goes is drawn from a table, where it goes from a byte; some are caught.
// How many leave on either side, and at which depth the others stay.
__device__ uint drawn(uint& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}
extern "C" __global__ void neutron_plate(const ushort* flights, uint* caught, uint* left, int depth, uint seed, int n) {
  __shared__ uint here[64], out[2];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t < 64) here[t] = 0;
  if (t < 2) out[t] = 0;
  __syncthreads();
  if (i < n) {
    uint state = (i + 1) * 2654435761u ^ seed;
    int place = 0, way = 127;
    while (true) {
      const uint draw = drawn(state);
      place += flights[draw & 255] * way >> 7;
      if (place < 0 || place >= depth) break;
      if ((draw >> 8 & 255) < 30) break;
      way = (signed char)(draw >> 16);
    }
    if (place < 0 || place >= depth) atomicAdd(&out[place >= depth], 1u);
    else atomicAdd(&here[64 * place / depth], 1u);
  }
  __syncthreads();
  if (t < 64) atomicAdd(&caught[t], here[t]);
  if (t < 2) atomicAdd(&left[t], out[t]);
}

// Where planets stand on their ellipses at a time (Kepler's equation, by Newton's steps until they are small); in double.
extern "C" __global__ void kepler_places(const double* eccentricity, const double* mean, double2* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double e = eccentricity[i], m = mean[i];
  double angle = m + (m < 0 ? -e : e), sine, cosine, step;
  int most = 50;
  do {
    sincos(angle, &sine, &cosine);
    step = (angle - e * sine - m) / (1 - e * cosine);
    angle -= step;
  } while (fabs(step) > 1e-12 && --most);
  sincos(angle, &sine, &cosine);
  y[i] = make_double2(cosine - e, sqrt(1 - e * e) * sine);
}
