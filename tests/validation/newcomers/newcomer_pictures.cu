// Newcomers: pictures and surfaces (launches: launches.toml).
#include <cuda_fp16.h>
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ull = unsigned long long;
constexpr uint every_lane = 0xffffffffu;

// How often each of 256 values comes in the red, green and blue of pixels of four bytes.  A pixel a thread.
extern "C" __global__ void colours_global(const uchar4* pixel, uint* bins, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  const uchar4 p = pixel[at];
  atomicAdd(&bins[p.x], 1u);
  atomicAdd(&bins[256 + p.y], 1u);
  atomicAdd(&bins[512 + p.z], 1u);
}
// A block counts its pixels in shared memory.
extern "C" __global__ void colours_block(const uchar4* pixel, uint* bins, int n) {
  __shared__ uint mine[768];
  for (int k = threadIdx.x; k < 768; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += gridDim.x * blockDim.x) {
    const uchar4 p = pixel[at];
    atomicAdd(&mine[p.x], 1u);
    atomicAdd(&mine[256 + p.y], 1u);
    atomicAdd(&mine[512 + p.z], 1u);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 768; k += blockDim.x)
    if (mine[k]) atomicAdd(&bins[k], mine[k]);
}
// Four pixels at once, and eight copies of the counters, side by side, so that lanes rarely meet.
extern "C" __global__ void colours_copies(const uint4* pixel, uint* bins, int n) {
  __shared__ uint mine[768][8];
  for (int k = threadIdx.x; k < 6144; k += blockDim.x) (&mine[0][0])[k] = 0;
  __syncthreads();
  const int copy = threadIdx.x % 8;
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n / 4; at += gridDim.x * blockDim.x) {
    const uint4 four = pixel[at];
    const uint each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      atomicAdd(&mine[each[k] & 255][copy], 1u);
      atomicAdd(&mine[256 + (each[k] >> 8 & 255)][copy], 1u);
      atomicAdd(&mine[512 + (each[k] >> 16 & 255)][copy], 1u);
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 768; k += blockDim.x) {
    uint sum = 0;
    for (int c = 0; c < 8; ++c) sum += mine[k][(c + k) % 8];
    if (sum) atomicAdd(&bins[k], sum);
  }
}

// Where a picture has corners (Harris): slopes, what they say of 5 x 5 points, and the answer; the edge goes on.
constexpr int side = 16, rim = 3;
extern "C" __global__ void corners(const uchar* x, float* y, int w, int h) {
  __shared__ uchar tile[side + 2 * rim][side + 2 * rim];
  __shared__ short2 slope[side + 4][side + 4];
  const int left = blockIdx.x * side - rim, top = blockIdx.y * side - rim, t = threadIdx.y * side + threadIdx.x;
  for (int k = t; k < 22 * 22; k += side * side) {
    const int px = min(max(left + k % 22, 0), w - 1), py = min(max(top + k / 22, 0), h - 1);
    tile[k / 22][k % 22] = x[py * w + px];
  }
  __syncthreads();
  for (int k = t; k < 20 * 20; k += side * side) {
    const int a = k % 20 + 1, b = k / 20 + 1;
    const int across = tile[b - 1][a + 1] + 2 * tile[b][a + 1] + tile[b + 1][a + 1] - tile[b - 1][a - 1] -
                       2 * tile[b][a - 1] - tile[b + 1][a - 1];
    const int down = tile[b + 1][a - 1] + 2 * tile[b + 1][a] + tile[b + 1][a + 1] - tile[b - 1][a - 1] -
                     2 * tile[b - 1][a] - tile[b - 1][a + 1];
    slope[b - 1][a - 1] = make_short2(across, down);
  }
  __syncthreads();
  const int px = blockIdx.x * side + threadIdx.x, py = blockIdx.y * side + threadIdx.y;
  if (px >= w || py >= h) return;
  int xx = 0, xy = 0, yy = 0;
#pragma unroll
  for (int b = 0; b < 5; ++b)
#pragma unroll
    for (int a = 0; a < 5; ++a) {
      const short2 s = slope[threadIdx.y + b][threadIdx.x + a];
      xx += s.x * s.x;
      xy += s.x * s.y;
      yy += s.y * s.y;
    }
  const float p = xx * 1e-6f, q = xy * 1e-6f, r = yy * 1e-6f;
  y[py * w + px] = p * r - q * q - 0.04f * (p + r) * (p + r);
}

// Sums of pixels and of their squares along rows of a picture, as for an integral image: a block a row, four a thread.
template <class T> __device__ T before_in_block(T v, T* sums, T* all) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T up_to = v;
  for (int k = 1; k < 32; k *= 2) {
    const T other = __shfl_up_sync(every_lane, up_to, k);
    if (lane >= k) up_to += other;
  }
  if (lane == 31) sums[warp] = up_to;
  __syncthreads();
  T start = up_to - v, total = 0;
  for (int k = 0; k < blockDim.x / 32; ++k) {
    if (k < warp) start += sums[k];
    total += sums[k];
  }
  *all = total;
  __syncthreads();
  return start;
}
extern "C" __global__ void row_sums(const uchar4* x, uint4* sum, ulonglong2* squares, int words) {
  __shared__ uint some[8];
  __shared__ ull more[8];
  uint carry = 0, all;
  ull carried = 0, whole;
  for (int first = 0; first < words; first += blockDim.x) {
    const int k = first + threadIdx.x;
    const size_t at = (size_t)blockIdx.x * words + k;
    const uchar4 p = k < words ? x[at] : make_uchar4(0, 0, 0, 0);
    const uint a = p.x, b = a + p.y, c = b + p.z, d = c + p.w;
    const uint aa = p.x * p.x, bb = aa + p.y * p.y, cc = bb + p.z * p.z, dd = cc + p.w * p.w;
    const uint start = carry + before_in_block<uint>(d, some, &all);
    const ull begin = carried + before_in_block<ull>(dd, more, &whole);
    carry += all;
    carried += whole;
    if (k >= words) continue;
    sum[at] = make_uint4(start + a, start + b, start + c, start + d);
    squares[2 * at] = make_ulonglong2(begin + aa, begin + bb);
    squares[2 * at + 1] = make_ulonglong2(begin + cc, begin + dd);
  }
}

// A picture of three bytes a pixel is made narrower by Lanczos' window of three lobes; halves, colour by colour.
__device__ float lobes(float d) {
  if (d == 0) return 1;
  return sinpif(d) * sinpif(d / 3) * 3 / (9.8696044f * d * d);
}
extern "C" __global__ void narrower(const uchar* x, __half* y, int w, int to, int h) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= to || row >= h) return;
  const float ratio = (float)w / to, centre = (column + 0.5f) * ratio - 0.5f, reach = 3 * ratio;
  const int from = max(0, (int)ceilf(centre - reach)), end = min(w - 1, (int)floorf(centre + reach));
  float red = 0, green = 0, blue = 0, all = 0;
  for (int k = from; k <= end; ++k) {
    const float by = lobes((k - centre) / ratio);
    const uchar* p = x + 3 * ((size_t)row * w + k);
    red += by * p[0];
    green += by * p[1];
    blue += by * p[2];
    all += by;
  }
  const size_t plane = (size_t)to * h, at = (size_t)row * to + column;
  y[at] = __float2half(red / all);
  y[plane + at] = __float2half(green / all);
  y[2 * plane + at] = __float2half(blue / all);
}

// How far pixels of a left picture stand from their like in the right one: 48 distances, by how many bits of seven
// neighbouring census codes differ; the first of the best, and its bits.  128 pixels of a row a block.
extern "C" __global__ void census_match(const uint* left, const uint* right, uchar* apart, uchar* bits, int w) {
  __shared__ uint here[134], there[182];
  const int first = blockIdx.x * 128, t = threadIdx.x;
  const size_t row = (size_t)blockIdx.y * w;
  for (int k = t; k < 182; k += 128) {
    if (k < 134) here[k] = left[row + min(max(first + k - 3, 0), w - 1)];
    there[k] = right[row + min(max(first + k - 51, 0), w - 1)];
  }
  __syncthreads();
  if (first + t >= w) return;
  uint mine[7];
#pragma unroll
  for (int k = 0; k < 7; ++k) mine[k] = here[t + k];
  int best = 255, at = 0;
  for (int d = 0; d <= 48; ++d) {
    int differ = 0;
#pragma unroll
    for (int k = 0; k < 7; ++k) differ += __popc(mine[k] ^ there[48 + t + k - d]);
    if (differ < best) { best = differ; at = d; }
  }
  apart[row + first + t] = at;
  bits[row + first + t] = best;
}

// Three levels of the 5/3 wavelet of JPEG 2000 on rows of `n` numbers of 16 bits (a multiple of 16, up to 2048): means
// in front, differences behind.  A block a row.
extern "C" __global__ void wavelet_rows(short* rows, int n) {
  __shared__ short line[2048], next[2048];
  short* mine = rows + (size_t)blockIdx.x * n;
  for (int k = threadIdx.x; k < n; k += blockDim.x) line[k] = mine[k];
  __syncthreads();
  for (int size = n; size > n / 8; size /= 2) {
    const int half = size / 2;
    for (int k = threadIdx.x; k < half; k += blockDim.x) {
      const int after = 2 * k + 2 < size ? line[2 * k + 2] : line[2 * k];
      next[half + k] = line[2 * k + 1] - (line[2 * k] + after >> 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < half; k += blockDim.x) {
      const int before = k > 0 ? next[half + k - 1] : next[half];
      next[k] = line[2 * k] + (before + next[half + k] + 2 >> 2);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < size; k += blockDim.x) line[k] = next[k];
    __syncthreads();
  }
  for (int k = threadIdx.x; k < n; k += blockDim.x) mine[k] = line[k];
}

// Points of curved patches (16 corners each, bicubic) at 9 x 9 places, and how far the patch runs on there both ways,
// multiplied (its normal, not of length one).
struct Vector {
  float x, y, z;
  __device__ Vector operator*(float s) const { return {s * x, s * y, s * z}; }
  __device__ Vector operator+(Vector o) const { return {x + o.x, y + o.y, z + o.z}; }
};
__device__ Vector cross(Vector a, Vector b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
struct Cubic {
  float value[4], slope[4];
  __device__ explicit Cubic(float t)
      : value{(1 - t) * (1 - t) * (1 - t), 3 * t * (1 - t) * (1 - t), 3 * t * t * (1 - t), t * t * t},
        slope{-3 * (1 - t) * (1 - t), 3 * (1 - t) * (1 - 3 * t), 3 * t * (2 - 3 * t), 3 * t * t} {}
};
extern "C" __global__ void patches(const Vector* corner, Vector* point, Vector* normal, int n) {
  __shared__ Vector near[2][16];
  const int t = (threadIdx.z * 9 + threadIdx.y) * 9 + threadIdx.x, patch = blockIdx.x * 2 + threadIdx.z;
  if (t < 32 && blockIdx.x * 2 + t / 16 < n) near[t / 16][t % 16] = corner[blockIdx.x * 32 + t];
  __syncthreads();
  if (patch >= n) return;
  const Cubic u(threadIdx.x / 8.0f), v(threadIdx.y / 8.0f);
  Vector sum{0, 0, 0}, across{0, 0, 0}, down{0, 0, 0};
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const Vector c = near[threadIdx.z][k];
    sum = sum + c * (u.value[k % 4] * v.value[k / 4]);
    across = across + c * (u.slope[k % 4] * v.value[k / 4]);
    down = down + c * (u.value[k % 4] * v.slope[k / 4]);
  }
  const size_t at = (size_t)patch * 81 + threadIdx.y * 9 + threadIdx.x;
  point[at] = sum;
  normal[at] = cross(across, down);
}
