// Wanderers: pictures (launches: launches.toml).
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

// Clouds or hills: several octaves of Perlin's gradient noise, the table of 256 numbers in shared memory.
struct Noise {
  const uint8_t* table;
  __device__ float slope(int x, int y, float dx, float dy) const {
    const int corner = table[(table[x & 255] + y) & 255];
    const float u = corner & 1 ? dx : -dx, v = corner & 2 ? dy : -dy;
    return corner & 4 ? u + v : corner & 8 ? 1.4142135f * u : 1.4142135f * v;
  }
  static __device__ float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
  static __device__ float mix(float a, float b, float t) { return a + t * (b - a); }
  __device__ float at(float x, float y) const {
    const float fx = floorf(x), fy = floorf(y), dx = x - fx, dy = y - fy, across = fade(dx);
    const int ix = fx, iy = fy;
    const float above = mix(slope(ix, iy, dx, dy), slope(ix + 1, iy, dx - 1, dy), across);
    const float below = mix(slope(ix, iy + 1, dx, dy - 1), slope(ix + 1, iy + 1, dx - 1, dy - 1), across);
    return mix(above, below, fade(dy));
  }
};
extern "C" __global__ void noise_octaves(const uint8_t* table, float* height, float step, int octaves, int w, int h) {
  __shared__ uint8_t near[256];
  near[threadIdx.y * 32 + threadIdx.x] = table[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  const int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
  if (px >= w || py >= h) return;
  const Noise noise{near};
  float x = px * step, y = py * step, share = 0.5f, sum = 0;
  for (int octave = 0; octave < octaves; ++octave) {
    sum += share * noise.at(x, y);
    x = 2 * x + 17.5f;
    y = 2 * y + 31.25f;
    share *= 0.5f;
  }
  height[py * w + px] = sum;
}

// Four bytes a pixel become 16 bits (5, 6, 5), by an ordered dither of 8 x 8; two pixels a thread.
__device__ unsigned bayer(unsigned x, unsigned y) {
  const unsigned v = x ^ y;
  return (v & 1) << 5 | (y & 1) << 4 | (v & 2) << 2 | (y & 2) << 1 | (v & 4) >> 1 | (y & 4) >> 2;
}
template <int bits> __device__ unsigned dithered(unsigned value, unsigned threshold) {
  return min(255u, value + (threshold << (8 - bits) >> 6)) >> (8 - bits);
}
__device__ uint16_t packed_565(uchar4 pixel, unsigned threshold) {
  return dithered<5>(pixel.x, threshold) << 11 | dithered<6>(pixel.y, threshold) << 5 | dithered<5>(pixel.z, threshold);
}
extern "C" __global__ void ordered_dither(const uchar4* pixels, ushort2* packed, int pairs, int h) {
  const int pair = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (pair >= pairs || y >= h) return;
  const int at = y * pairs + pair;
  const uint2 both = reinterpret_cast<const uint2*>(pixels)[at];
  auto pixel = [](unsigned word) { return make_uchar4(word & 255, word >> 8 & 255, word >> 16 & 255, word >> 24); };
  packed[at] = make_ushort2(packed_565(pixel(both.x), bayer(2 * pair, y)),
                            packed_565(pixel(both.y), bayer(2 * pair + 1, y)));
}

// How far (squared) the nearest ink is, from how far it is within each column, and in which column it stands; a row a
// block, a search to both sides as far as it can matter.
extern "C" __global__ void ink_of_row(const uint16_t* down, int* squares, uint16_t* columns, int w) {
  extern __shared__ int square[];
  const size_t start = (size_t)blockIdx.x * w;
  for (int x = threadIdx.x; x < w; x += blockDim.x) {
    const int v = down[start + x];
    square[x] = v * v;
  }
  __syncthreads();
  for (int x = threadIdx.x; x < w; x += blockDim.x) {
    int best = square[x], column = x;
    for (int d = 1; d * d < best; ++d) {
      if (x >= d && square[x - d] + d * d < best) best = square[x - d] + d * d, column = x - d;
      if (x + d < w && square[x + d] + d * d < best) best = square[x + d] + d * d, column = x + d;
    }
    squares[start + x] = best;
    columns[start + x] = column;
  }
}

// Noise goes by what is alike: each pixel becomes a mean of the 49 around, which count as much as their 3 x 3 resemble
// those of the pixel (non-local means).  16 x 16 pixels a block, those around in shared memory.
constexpr int tile = 16, reach = 4, side = tile + 2 * reach;
extern "C" __global__ void __launch_bounds__(tile* tile)
    non_local_means(const float* x, float* y, float strength, int w, int h) {
  __shared__ float near[side][side + 1];
  const int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * tile - reach, top = blockIdx.y * tile - reach;
  for (int r = ty; r < side; r += tile)
    for (int c = tx; c < side; c += tile)
      near[r][c] = x[min(max(top + r, 0), h - 1) * w + min(max(left + c, 0), w - 1)];
  __syncthreads();
  const int px = blockIdx.x * tile + tx, py = blockIdx.y * tile + ty;
  if (px >= w || py >= h) return;
  float mine[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) mine[k] = near[ty + reach + k / 3 - 1][tx + reach + k % 3 - 1];
  float sum = 0, weights = 0;
  for (int dy = -3; dy <= 3; ++dy)
    for (int dx = -3; dx <= 3; ++dx) {
      float apart = 0;
#pragma unroll
      for (int k = 0; k < 9; ++k) {
        const float d = mine[k] - near[ty + reach + dy + k / 3 - 1][tx + reach + dx + k % 3 - 1];
        apart += d * d;
      }
      const float weight = __expf(-strength * apart);
      sum += weight * near[ty + reach + dy][tx + reach + dx];
      weights += weight;
    }
  y[py * w + px] = sum / weights;
}

// Local binary patterns: which of its eight neighbours are as bright as a pixel; how often each of the 256 patterns
// stands in each cell of 32 x 32.
extern "C" __global__ void texture_cells(const uint8_t* x, uint8_t* patterns, uint16_t* cells, int w, int h) {
  __shared__ unsigned count[256];
  const int t = threadIdx.y * 32 + threadIdx.x;
  count[t] = 0;
  cg::this_thread_block().sync();
  const int px = blockIdx.x * 32 + threadIdx.x;
  constexpr int8_t around[8][2] = {{-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}};
  for (int r = threadIdx.y; r < 32; r += 8) {
    const int py = blockIdx.y * 32 + r;
    if (px < 1 || py < 1 || px >= w - 1 || py >= h - 1) continue;
    const uint8_t* at = x + py * w + px;
    unsigned pattern = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) pattern |= (at[around[k][1] * w + around[k][0]] >= *at) << k;
    patterns[py * w + px] = pattern;
    atomicAdd(&count[pattern], 1);
  }
  cg::this_thread_block().sync();
  cells[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + t] = count[t];
}
