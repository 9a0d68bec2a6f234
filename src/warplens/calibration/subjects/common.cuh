// What the micro-benchmarks have in common.  It stands before each of their files.
#include <cuda_fp16.h>
#define TICKS(body)                                     \
  long long t0 = clock64();                             \
  body;                                                 \
  long long t1 = clock64();                             \
  if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = t1 - t0;
#define UNROLLED(n) _Pragma("unroll") for (int i = 0; i < n; ++i)
#define F(i) (float)(threadIdx.x + i)
#define I(i) (unsigned)(threadIdx.x * 7 + i)
#define UNLIKELY 12345.678f  // results are compared with it, so that they are needed

__device__ float all(float v) { return v; }
__device__ float all(float2 v) { return v.x + v.y; }
__device__ float all(float4 v) { return v.x + v.y + v.z + v.w; }

// Every thread walks through n words, W at a time, with the stride of the whole grid, U loads at once.
template <int W> struct Words { float v[W]; };
template <> struct __align__(8) Words<2> { float v[2]; };
template <> struct __align__(16) Words<4> { float v[4]; };
template <int W, int U> __device__ void read(const float* x, float* sink, long n) {
  const Words<W>* p = (const Words<W>*)x;
  long step = (long)blockDim.x * gridDim.x, i = threadIdx.x + (long)blockIdx.x * blockDim.x;
  float sum = 0;
  for (; i + (U - 1) * step < n / W; i += U * step) {
    Words<W> a[U];
#pragma unroll
    for (int u = 0; u < U; ++u) a[u] = p[i + u * step];
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int w = 0; w < W; ++w) sum += a[u].v[w];
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
