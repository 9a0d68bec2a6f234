// Guests: pictures and grids (launches: launches.toml).
#include <cuda_fp16.h>
using uint = unsigned;
using uchar = unsigned char;

// The median of nine pixels; those beyond the edge are those at the edge.  Each of the nine is ranked among the others.
extern "C" __global__ void median_ranks(const uchar* x, uchar* y, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  int v[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    int a = min(max(i + k % 3 - 1, 0), w - 1), b = min(max(j + k / 3 - 1, 0), h - 1);
    v[k] = x[b * w + a];
  }
  int found = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    int below = 0;
#pragma unroll
    for (int o = 0; o < 9; ++o) below += o < k ? v[o] <= v[k] : v[o] < v[k];
    if (below == 4) found = v[k];
  }
  y[j * w + i] = (uchar)found;
}
__device__ void exchange(uint& a, uint& b) {
  uint low = min(a, b);
  b = max(a, b);
  a = low;
}
__device__ void exchange_bytes(uint& a, uint& b) {
  uint low = __vminu4(a, b);
  b = __vmaxu4(a, b);
  a = low;
}
// Nineteen exchanges leave the median in the middle.
template <void (*Exchange)(uint&, uint&)>
__device__ uint middle(uint (&v)[9]) {
  constexpr int at[19][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2}, {4, 5}, {7, 8}, {0, 3},
                             {5, 8}, {4, 7}, {3, 6}, {1, 4}, {2, 5}, {4, 7}, {4, 2}, {6, 4}, {4, 2}};
#pragma unroll
  for (int k = 0; k < 19; ++k) Exchange(v[at[k][0]], v[at[k][1]]);
  return v[4];
}
// Exchanges.
extern "C" __global__ void median_network(const uchar* x, uchar* y, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  uint v[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    int a = min(max(i + k % 3 - 1, 0), w - 1), b = min(max(j + k / 3 - 1, 0), h - 1);
    v[k] = x[b * w + a];
  }
  y[j * w + i] = (uchar)middle<exchange>(v);
}
// The block's 32 x 16 pixels and those around come to shared memory.
extern "C" __global__ void median_tile(const uchar* x, uchar* y, int w, int h) {
  __shared__ uchar s[18][36];
  int left = blockIdx.x * 32 - 1, top = blockIdx.y * 16 - 1, t = threadIdx.y * 32 + threadIdx.x;
  for (int k = t; k < 18 * 34; k += 512) {
    int a = min(max(left + k % 34, 0), w - 1), b = min(max(top + k / 34, 0), h - 1);
    s[k / 34][k % 34] = x[b * w + a];
  }
  __syncthreads();
  uint v[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) v[k] = s[threadIdx.y + k / 3][threadIdx.x + k % 3];
  y[(blockIdx.y * 16 + threadIdx.y) * w + blockIdx.x * 32 + threadIdx.x] = (uchar)middle<exchange>(v);
}
// Four pixels a thread, in the bytes of a word.
extern "C" __global__ void median_words(const uint* x, uint* y, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, wide = w / 4;
  if (i >= wide || j >= h) return;
  uint v[9];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const uint* row = x + min(max(j + k - 1, 0), h - 1) * wide;
    uint here = row[i];
    uint before = i ? row[i - 1] >> 24 : here & 255, after = i + 1 < wide ? row[i + 1] & 255 : here >> 24;
    v[3 * k] = here << 8 | before;
    v[3 * k + 1] = here;
    v[3 * k + 2] = here >> 8 | after << 24;
  }
  y[j * wide + i] = middle<exchange_bytes>(v);
}

// A bilateral filter of 5 x 5: near pixels count, and those of like brightness.
extern "C" __global__ void bilateral(const float* x, float* y, float near, float like, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  float here = x[j * w + i], sum = 0, weights = 0;
  for (int b = -2; b <= 2; ++b)
    for (int a = -2; a <= 2; ++a) {
      float v = x[min(max(j + b, 0), h - 1) * w + min(max(i + a, 0), w - 1)];
      float weight = __expf(-(a * a + b * b) * near - (v - here) * (v - here) * like);
      sum += weight * v;
      weights += weight;
    }
  y[j * w + i] = sum / weights;
}
// Pixels of four halves laid over others, as much as the last of the four says.
extern "C" __global__ void blend_halves(const uint2* over, uint2* under, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint2 v = over[i], u = under[i];
  __half2 a = *(__half2*)&v.x, b = *(__half2*)&v.y, p = *(__half2*)&u.x, q = *(__half2*)&u.y;
  __half2 cover = __half2half2(__high2half(b)), rest = __hsub2(__float2half2_rn(1.0f), cover);
  p = __hfma2(p, rest, __hmul2(a, cover));
  q = __hfma2(q, rest, __hmul2(b, cover));
  under[i] = make_uint2(*(uint*)&p, *(uint*)&q);
}
// Sums down the columns of a picture whose rows have been summed: a thread a column.
extern "C" __global__ void integral_columns(const int* x, int* y, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  if (i >= w) return;
#pragma unroll 4
  for (int j = 0; j < h; ++j) y[j * w + i] = s += x[j * w + i];
}
// How many triangles marching cubes will make of each block's cells: eight corners are inside or not.
extern "C" __global__ void cube_triangles(const float* x, const uchar* table, int* counts, float level, int w) {
  __shared__ int total;
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y, k = blockIdx.z * 2 + threadIdx.z;
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) total = 0;
  __syncthreads();
  int found = 0;
  if (i + 1 < w && j + 1 < w && k + 1 < w) {
    const float* p = x + (k * w + j) * w + i;
    int corners = 0;
#pragma unroll
    for (int c = 0; c < 8; ++c) corners |= (p[((c >> 2) * w + (c >> 1 & 1)) * w + (c & 1)] > level) << c;
    found = table[corners];
  }
#pragma unroll
  for (int c = 16; c; c /= 2) found += __shfl_xor_sync(~0u, found, c);
  if (threadIdx.x == 0) atomicAdd(&total, found);
  __syncthreads();
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
    counts[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = total;
}
// Four steps of a wave at once: tiles of 32 x 32 of which the inner 24 x 24 are right at the end.  Outside is no wave.
extern "C" __global__ void wave_tiles(const float* before, const float* now, float* last, float* next, float speed,
                                      int w, int h) {
  __shared__ float s[34][34];
  int a = threadIdx.x, b = threadIdx.y, i = blockIdx.x * 24 + a - 4, j = blockIdx.y * 24 + b - 4;
  bool in = i >= 0 && i < w && j >= 0 && j < h;
  float u = in ? before[j * w + i] : 0, v = in ? now[j * w + i] : 0;
  for (int k = b * 32 + a; k < 34 * 34; k += 1024) (&s[0][0])[k] = 0;
  for (int step = 0; step < 4; ++step) {
    __syncthreads();
    s[b + 1][a + 1] = v;
    __syncthreads();
    float around = s[b][a + 1] + s[b + 2][a + 1] + s[b + 1][a] + s[b + 1][a + 2];
    float fresh = in ? 2 * v - u + speed * (around - 4 * v) : 0;
    u = v;
    v = fresh;
  }
  if (in && a >= 4 && a < 28 && b >= 4 && b < 28) {
    last[j * w + i] = u;
    next[j * w + i] = v;
  }
}
// A half step of Maxwell's equations: the magnetic field from the electric.
extern "C" __global__ void maxwell_h(float* hx, float* hy, float* hz, const float* ex, const float* ey, const float* ez,
                                     float c, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
  if (i >= w - 1 || j >= w - 1 || k >= w - 1) return;
  int at = (k * w + j) * w + i, down = at + w, deep = at + w * w;
  hx[at] += c * ((ey[deep] - ey[at]) - (ez[down] - ez[at]));
  hy[at] += c * ((ez[at + 1] - ez[at]) - (ex[deep] - ex[at]));
  hz[at] += c * ((ex[down] - ex[at]) - (ey[at + 1] - ey[at]));
}
// A flow on a lattice of nine directions: what arrives at each place meets there (round a torus).
extern "C" __global__ void lattice_flow(const float* f, float* g, float rate, int w, int h) {
  constexpr int across[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, down[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  constexpr float share[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y, n = w * h;
  if (i >= w) return;
  float v[9], mass = 0, x = 0, y = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    int a = i - across[k], b = j - down[k];
    a = a < 0 ? w - 1 : a == w ? 0 : a;
    b = b < 0 ? h - 1 : b == h ? 0 : b;
    v[k] = f[k * n + b * w + a];
    mass += v[k];
    x += across[k] * v[k];
    y += down[k] * v[k];
  }
  x /= mass;
  y /= mass;
  float both = 1 - 1.5f * (x * x + y * y);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    float along = across[k] * x + down[k] * y;
    float rest = share[k] * mass * (both + 3 * along + 4.5f * along * along);
    g[k * n + j * w + i] = v[k] + rate * (rest - v[k]);
  }
}
// Sixteen rows of the cheapest ways down a grid, straight or one aside a row: 224 columns a block, with 16 on each side.
extern "C" __global__ void cheapest_ways(const int* cost, const int* before, int* after, int w) {
  __shared__ int s[2][258];
  int t = threadIdx.x, i = blockIdx.x * 224 + t - 16, from = 0;
  bool in = i >= 0 && i < w;
  int best = in ? before[i] : 1 << 30;
  if (t < 2) s[t][0] = s[t][257] = 1 << 30;
  for (int row = 0; row < 16; ++row) {
    s[from][t + 1] = best;
    __syncthreads();
    if (in) best = cost[row * w + i] + min(best, min(s[from][t], s[from][t + 2]));
    from = 1 - from;
  }
  if (in && t >= 16 && t < 240) after[i] = best;
}
