// Ladders of pictures and grids: one task, climbed in several ways (launches: launches.toml).
using uint = unsigned;
using uchar = unsigned char;
using ushort = unsigned short;

// A blur of 9 x 9 points with binomial weights.  All 81 points from memory.
__device__ constexpr int WEIGHT[9] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
__device__ int inside(int v, int size) { return min(max(v, 0), size - 1); }

extern "C" __global__ void blur_plain(const uchar* x, uchar* y, int w, int h) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x, s = 1 << 15;
  int weight[9] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
#pragma unroll 1
  for (int r = -4; r <= 4; ++r) {
    const uchar* line = x + inside(i + r, h) * w;
    int sum = 0;
#pragma unroll
    for (int c = -4; c <= 4; ++c) sum += weight[c + 4] * line[inside(j + c, w)];
    s += sum * (r * r == 0 ? 70 : r * r == 1 ? 56 : r * r == 4 ? 28 : r * r == 9 ? 8 : 1);
  }
  y[i * w + j] = s >> 16;
}
// All 81 from a tile in shared memory, byte by byte.
extern "C" __global__ void blur_tile(const uchar* x, uchar* y, int w, int h) {
  __shared__ uchar own[24][40];
  int i0 = blockIdx.y * 16, j0 = blockIdx.x * 32, t = threadIdx.y * 32 + threadIdx.x;
  for (int k = t; k < 24 * 40; k += 512)
    own[k / 40][k % 40] = x[inside(i0 + k / 40 - 4, h) * w + inside(j0 + k % 40 - 4, w)];
  __syncthreads();
  int s = 1 << 15;
#pragma unroll
  for (int r = 0; r < 9; ++r)
#pragma unroll
    for (int c = 0; c < 9; ++c) s += WEIGHT[r] * WEIGHT[c] * own[threadIdx.y + r][threadIdx.x + c];
  y[(i0 + threadIdx.y) * w + j0 + threadIdx.x] = s >> 16;
}
// Lines first, then columns of what they gave: 18 points instead of 81.
extern "C" __global__ void blur_steps(const uchar* x, uchar* y, int w, int h) {
  __shared__ uchar own[24][40];
  __shared__ ushort lines[24][32];
  int i0 = blockIdx.y * 16, j0 = blockIdx.x * 32, t = threadIdx.y * 32 + threadIdx.x;
  for (int k = t; k < 24 * 40; k += 512)
    own[k / 40][k % 40] = x[inside(i0 + k / 40 - 4, h) * w + inside(j0 + k % 40 - 4, w)];
  __syncthreads();
  for (int r = threadIdx.y; r < 24; r += 16) {
    int s = 0;
#pragma unroll
    for (int c = 0; c < 9; ++c) s += WEIGHT[c] * own[r][threadIdx.x + c];
    lines[r][threadIdx.x] = s;
  }
  __syncthreads();
  int s = 1 << 15;
#pragma unroll
  for (int r = 0; r < 9; ++r) s += WEIGHT[r] * lines[threadIdx.y + r][threadIdx.x];
  y[(i0 + threadIdx.y) * w + j0 + threadIdx.x] = s >> 16;
}
// The same, four points a thread, by words: 128 x 8 points a block.
extern "C" __global__ void blur_words(const uchar* x, uchar* y, int w, int h) {
  __shared__ uint own[16][34];
  __shared__ ushort4 lines[16][32];
  int i0 = blockIdx.y * 8, j0 = blockIdx.x * 128, tx = threadIdx.x;
  for (int r = threadIdx.y; r < 16; r += 8) {
    const uchar* line = x + inside(i0 + r - 4, h) * w;
    own[r][tx + 1] = *(const uint*)&line[j0 + 4 * tx];
    if (tx == 0) own[r][0] = j0 ? *(const uint*)&line[j0 - 4] : line[0] * 0x01010101u;
    if (tx == 31) own[r][33] = j0 + 128 < w ? *(const uint*)&line[j0 + 128] : line[w - 1] * 0x01010101u;
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 16; r += 8) {
    int v[12], s[4];
#pragma unroll
    for (int k = 0; k < 12; ++k) v[k] = own[r][tx + k / 4] >> 8 * (k % 4) & 255;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      s[k] = v[k] + v[k + 8] + 8 * (v[k + 1] + v[k + 7]) + 28 * (v[k + 2] + v[k + 6]) + 56 * (v[k + 3] + v[k + 5]) +
             70 * v[k + 4];
    lines[r][tx] = make_ushort4(s[0], s[1], s[2], s[3]);
  }
  __syncthreads();
  int s[4] = {1 << 15, 1 << 15, 1 << 15, 1 << 15};
#pragma unroll
  for (int r = 0; r < 9; ++r) {
    ushort4 v = lines[threadIdx.y + r][tx];
    s[0] += WEIGHT[r] * v.x; s[1] += WEIGHT[r] * v.y; s[2] += WEIGHT[r] * v.z; s[3] += WEIGHT[r] * v.w;
  }
  *(uint*)&y[(i0 + threadIdx.y) * w + j0 + 4 * tx] = s[0] >> 16 | s[1] >> 16 << 8 | s[2] >> 16 << 16 | s[3] >> 16 << 24;
}

// Colours, three bytes a point, to one plane of brightness and two of differences.  A thread a point, byte by byte.
__device__ uint brightness(uint r, uint g, uint b) { return (66 * r + 129 * g + 25 * b + 4224) >> 8; }
__device__ uint towards_blue(int r, int g, int b) { return (112 * b - 38 * r - 74 * g + 32896) >> 8; }
__device__ uint towards_red(int r, int g, int b) { return (112 * r - 94 * g - 18 * b + 32896) >> 8; }

extern "C" __global__ void planes_bytes(const uchar* x, uchar* y, uchar* u, uchar* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int r = x[3 * i], g = x[3 * i + 1], b = x[3 * i + 2];
  y[i] = brightness(r, g, b);
  u[i] = towards_blue(r, g, b);
  v[i] = towards_red(r, g, b);
}
// The block's 768 bytes come by words into shared memory.
extern "C" __global__ void planes_staged(const uint* x, uchar* y, uchar* u, uchar* v, int n) {
  __shared__ uint own[192];
  if (threadIdx.x < 192) own[threadIdx.x] = x[blockIdx.x * 192 + threadIdx.x];
  __syncthreads();
  const uchar* at = (const uchar*)own + 3 * threadIdx.x;
  int r = at[0], g = at[1], b = at[2], i = blockIdx.x * 256 + threadIdx.x;
  y[i] = brightness(r, g, b);
  u[i] = towards_blue(r, g, b);
  v[i] = towards_red(r, g, b);
}
struct Planes {
  uint y, u, v;
};
__device__ Planes four(uint a, uint b, uint c) {
  uint byte[12];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    byte[k] = a >> 8 * k & 255;
    byte[k + 4] = b >> 8 * k & 255;
    byte[k + 8] = c >> 8 * k & 255;
  }
  Planes p = {};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    uint r = byte[3 * k], g = byte[3 * k + 1], l = byte[3 * k + 2];
    p.y |= brightness(r, g, l) << 8 * k;
    p.u |= towards_blue(r, g, l) << 8 * k;
    p.v |= towards_red(r, g, l) << 8 * k;
  }
  return p;
}
// Four points a thread, in three words.
extern "C" __global__ void planes_words(const uint* x, uint* y, uint* u, uint* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= n) return;
  Planes p = four(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
  y[i] = p.y;
  u[i] = p.u;
  v[i] = p.v;
}
// Sixteen points a thread, in three loads of 16 bytes.
extern "C" __global__ void planes_wide(const uint4* x, uint4* y, uint4* u, uint4* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (16 * i >= n) return;
  uint4 a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
  Planes p = four(a.x, a.y, a.z), q = four(a.w, b.x, b.y), r = four(b.z, b.w, c.x), s = four(c.y, c.z, c.w);
  y[i] = make_uint4(p.y, q.y, r.y, s.y);
  u[i] = make_uint4(p.u, q.u, r.u, s.u);
  v[i] = make_uint4(p.v, q.v, r.v, s.v);
}

// A step of heat in a cube of w^3 cells; what lies at its sides stays.  Lanes along the second axis.
__device__ bool at_side(int i, int w) { return i == 0 || i == w - 1; }
__device__ float warmed(const float* x, int at, int w) {
  return 0.4f * x[at] + 0.1f * (x[at - 1] + x[at + 1] + x[at - w] + x[at + w] + x[at - w * w] + x[at + w * w]);
}
extern "C" __global__ void heat_across(const float* x, float* y, int w) {
  int i = blockIdx.x, j = blockIdx.y * blockDim.x + threadIdx.x, k = blockIdx.z * blockDim.y + threadIdx.y;
  int at = (k * w + j) * w + i;
  y[at] = at_side(i, w) || at_side(j, w) || at_side(k, w) ? x[at] : warmed(x, at, w);
}
// Lanes along the first.
extern "C" __global__ void heat_plain(const float* x, float* y, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
  int at = (k * w + j) * w + i;
  y[at] = at_side(i, w) || at_side(j, w) || at_side(k, w) ? x[at] : warmed(x, at, w);
}
// A thread goes 32 cells along the third axis and keeps what lies before and behind.
extern "C" __global__ void heat_march(const float* x, float* y, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, from = blockIdx.z * 32;
  int at = (from * w + j) * w + i, layer = w * w;
  float before = from ? x[at - layer] : 0, here = x[at];
  for (int k = from; k < from + 32; ++k, at += layer) {
    float next = k + 1 < w ? x[at + layer] : 0;
    bool side = at_side(i, w) || at_side(j, w) || at_side(k, w);
    y[at] = side ? here : 0.4f * here + 0.1f * (x[at - 1] + x[at + 1] + x[at - w] + x[at + w] + before + next);
    before = here;
    here = next;
  }
}
// The same with the layer's 32 x 8 cells and those around them in shared memory.
extern "C" __global__ void heat_tile(const float* x, float* y, int w) {
  __shared__ float own[10][34];
  int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * 32 + tx, j = blockIdx.y * 8 + ty, from = blockIdx.z * 32;
  int at = (from * w + j) * w + i, layer = w * w;
  float before = from ? x[at - layer] : 0, here = x[at];
  for (int k = from; k < from + 32; ++k, at += layer) {
    float next = k + 1 < w ? x[at + layer] : 0;
    own[ty + 1][tx + 1] = here;
    if (ty == 0 && j > 0) own[0][tx + 1] = x[at - w];
    if (ty == 7 && j + 1 < w) own[9][tx + 1] = x[at + w];
    if (tx == 0 && i > 0) own[ty + 1][0] = x[at - 1];
    if (tx == 31 && i + 1 < w) own[ty + 1][33] = x[at + 1];
    __syncthreads();
    bool side = at_side(i, w) || at_side(j, w) || at_side(k, w);
    float around = own[ty + 1][tx] + own[ty + 1][tx + 2] + own[ty][tx + 1] + own[ty + 2][tx + 1];
    y[at] = side ? here : 0.4f * here + 0.1f * (around + before + next);
    __syncthreads();
    before = here;
    here = next;
  }
}

// A tone curve through 33 knots over 16 bits.  The knots from memory.
__device__ uint between(uint low, uint high, uint v) { return (low * (2048 - (v & 2047)) + high * (v & 2047)) >> 11; }

extern "C" __global__ void tone_global(const ushort* x, ushort* y, const ushort* knots, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint v = x[i];
  y[i] = between(knots[v >> 11], knots[(v >> 11) + 1], v);
}
// The knots in shared memory.
extern "C" __global__ void tone_shared(const ushort* x, ushort* y, const ushort* knots, int n) {
  __shared__ uint own[33];
  if (threadIdx.x < 33) own[threadIdx.x] = knots[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint v = x[i];
  y[i] = between(own[v >> 11], own[(v >> 11) + 1], v);
}
// Each lane holds a pair of knots and the others ask it; two points a thread, many a block.
extern "C" __global__ void tone_lanes(const uint* x, uint* y, const ushort* knots, int n) {
  int lane = threadIdx.x & 31, all = gridDim.x * blockDim.x, pairs = n / 2;
  uint pair = knots[lane] | (uint)knots[lane + 1] << 16;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i - lane < pairs; i += all) {
    uint v = i < pairs ? x[i] : 0, low = v & 0xffff, high = v >> 16;
    uint p = __shfl_sync(~0u, pair, low >> 11), q = __shfl_sync(~0u, pair, high >> 11);
    if (i < pairs) y[i] = between(p & 0xffff, p >> 16, low) | between(q & 0xffff, q >> 16, high) << 16;
  }
}
// A copy of the knots for each bank of shared memory, eight points a thread, many a block.
extern "C" __global__ void tone_copies(const uint4* x, uint4* y, const ushort* knots, int n) {
  __shared__ uint own[32][32];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x)
    own[k / 32][k % 32] = knots[k / 32] | (uint)knots[k / 32 + 1] << 16;
  __syncthreads();
  int lane = threadIdx.x & 31;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 8; i += gridDim.x * blockDim.x) {
    uint4 v = x[i];
    uint* word = &v.x;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      uint low = word[k] & 0xffff, high = word[k] >> 16, p = own[low >> 11][lane], q = own[high >> 11][lane];
      word[k] = between(p & 0xffff, p >> 16, low) | between(q & 0xffff, q >> 16, high) << 16;
    }
    y[i] = v;
  }
}
