extern "C" {
// The same part of memory again and again, from L1 or L2: `span` elements (a power of two), `apart` of them from block to
// block.
__global__ void again(const float* x, float* sink, int span, int apart, int rounds) {
  const float* p = x + (long)blockIdx.x * apart;
  float sum = 0;
  for (int r = 0; r < rounds; ++r)
    for (int i = threadIdx.x; i < span; i += 4 * blockDim.x)
#pragma unroll
      for (int u = 0; u < 4; ++u) sum += p[(i + u * blockDim.x) & (span - 1)];
  if (sum == UNLIKELY) sink[0] = sum;
}
__global__ void again_4(const float4* x, float* sink, int span, int apart, int rounds) {
  const float4* p = x + (long)blockIdx.x * apart;
  float sum = 0;
  for (int r = 0; r < rounds; ++r)
    for (int i = threadIdx.x; i < span; i += 4 * blockDim.x)
#pragma unroll
      for (int u = 0; u < 4; ++u) sum += all(p[(i + u * blockDim.x) & (span - 1)]);
  if (sum == UNLIKELY) sink[0] = sum;
}
// As fast as L1 or L2 serve: 8 loads at once of a window of `bytes` (a power of two) from each block, `rounds` times.
// Blocks begin `apart` bytes from each other.
#define WINDOW(name, type, words, load)                                                                            \
  __global__ void name(const char* x, float* sink, long bytes, int rounds, unsigned apart) {                      \
    float sum = 0;                                                                                                \
    unsigned at = threadIdx.x * words * 4 + blockIdx.x * apart;                                                    \
    for (int r = 0; r < rounds; ++r) {                                                                            \
      float v[8][words];                                                                                          \
      UNROLLED(8) { const char* p = x + (at & (bytes - 1)); at += blockDim.x * words * 4; load; }                 \
      UNROLLED(8) for (int w = 0; w < words; ++w) sum += v[i][w];                                                 \
    }                                                                                                             \
    if (sum == UNLIKELY) sink[0] = sum;                                                                           \
  }
WINDOW(window_4, float, 1, asm volatile("ld.global.f32 %0, [%1];" : "=f"(v[i][0]) : "l"(p)))
WINDOW(window_8, float2, 2, asm volatile("ld.global.v2.f32 {%0,%1}, [%2];" : "=f"(v[i][0]), "=f"(v[i][1]) : "l"(p)))
WINDOW(window_16, float4, 4, asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[i][0]), "=f"(v[i][1]), "=f"(v[i][2]), "=f"(v[i][3]) : "l"(p)))
WINDOW(window_l2_4, float, 1, asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v[i][0]) : "l"(p)))
WINDOW(window_l2_16, float4, 4, asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[i][0]), "=f"(v[i][1]), "=f"(v[i][2]), "=f"(v[i][3]) : "l"(p)))
// Loads that hit L1, `step` words from lane to lane: lines and banks.  `hop` is 0, which the compiler does not know.
__global__ void hits_strided(long long* ticks, const float* x, float* sink, int rounds, int step, int hop) {
  const float* p = x + threadIdx.x % 32 * step;
  float v = 0, w[16];
  UNROLLED(16) v += p[i];
  __syncthreads();
  TICKS(for (int r = 0; r < rounds; ++r) {
    UNROLLED(16) asm volatile("ld.global.f32 %0, [%1];" : "=f"(w[i]) : "l"(p + i));
    UNROLLED(16) v += w[i];
    p += hop;
  })
  if (v == UNLIKELY) sink[0] = v;
}
// Loads that hit L1, of 4 to 16 bytes a lane, with lanes `step` words apart: 0 for all at one place.  `hop` is 0.
#define HITS_WIDE(name, words, load)                                                                       \
  __global__ void name(long long* ticks, const float* x, float* sink, int rounds, int step, int hop) {     \
    const float* p = x + threadIdx.x % 32 * step;                                                          \
    float v[16][words], sum = 0;                                                                           \
    UNROLLED(16) sum += p[i * words];                                                                      \
    __syncthreads();                                                                                       \
    TICKS(for (int r = 0; r < rounds; ++r) {                                                               \
      UNROLLED(16) { load; }                                                                               \
      UNROLLED(16) for (int w = 0; w < words; ++w) sum += v[i][w];                                         \
      p += hop;                                                                                            \
    })                                                                                                     \
    if (sum == UNLIKELY) sink[0] = sum;                                                                    \
  }
HITS_WIDE(hits_4, 1, asm volatile("ld.global.f32 %0, [%1];" : "=f"(v[i][0]) : "l"(p + i)))
HITS_WIDE(hits_8, 2, asm volatile("ld.global.v2.f32 {%0,%1}, [%2];" : "=f"(v[i][0]), "=f"(v[i][1]) : "l"(p + 2 * i)))
HITS_WIDE(hits_16, 4, asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[i][0]), "=f"(v[i][1]), "=f"(v[i][2]), "=f"(v[i][3]) : "l"(p + 4 * i)))
#define READ(W, U) __global__ void again_##W##_##U(const float* x, float* sink, long n) { read<W, U>(x, sink, n); }
READ(1, 1) READ(1, 4) READ(4, 1) READ(4, 4)
// All of a working set of n words of 16 bytes, `rounds` times; past L1, and another part each time.
__global__ void swept_16(const char* x, float* sink, long n, int rounds) {
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    long block = (blockIdx.x + 37l * r) % gridDim.x, step = (long)gridDim.x * blockDim.x;
    for (long at = block * blockDim.x + threadIdx.x; at < n; at += 4 * step) {
      float v[4][4] = {};
      UNROLLED(4) if (at + i * step < n)
        asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[i][0]), "=f"(v[i][1]), "=f"(v[i][2]), "=f"(v[i][3]) : "l"(x + 16 * (at + i * step)));
      UNROLLED(4) sum += v[i][0] + v[i][1] + v[i][2] + v[i][3];
    }
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
// One word a lane is stored, `stride` words apart: sectors that are written in part.
__global__ void write_apart(float* y, int n, int stride, int rounds) {
  int threads = blockDim.x * gridDim.x;
  for (int r = 0; r < rounds; ++r)
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += threads) {
      int row = i / 32 * 32 * stride, column = (i % 32) * stride;
      y[(row + column + r) % n] = i;
    }
}
__global__ void read_apart(const float* x, float* sink, int n, int stride, int rounds) {
  int threads = blockDim.x * gridDim.x;
  float sum = 0;
  for (int r = 0; r < rounds; ++r)
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += threads) {
      int row = i / 32 * 32 * stride, column = (i % 32) * stride;
      sum += x[(row + column + r) % n];
    }
  if (sum == UNLIKELY) sink[0] = sum;
}
// The first warp follows a chain in L1 while the others load from DRAM.
__global__ void hit_under_miss(long long* ticks, const unsigned* p, const float4* x, unsigned* sink, int rounds, int n) {
  if (threadIdx.x < 32) {
    unsigned i = 0;
    for (int r = 0; r < 128; ++r) i = p[i];  // all of the chain
    long long t0 = clock64();
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
      for (int k = 0; k < 16; ++k) i = p[i];
    }
    long long t1 = clock64();
    ticks[blockIdx.x * (blockDim.x / 32)] = t1 - t0;
    if (i == 0xffffffffu) sink[0] = i;
  } else {
    float sum = 0;
    int threads = (blockDim.x - 32) * gridDim.x;
    for (int i = threadIdx.x - 32 + blockIdx.x * (blockDim.x - 32); i < n; i += threads) { float4 v = x[i]; sum += v.x + v.y + v.z + v.w; }
    if (sum == UNLIKELY) sink[0] = 1;
  }
}
}
