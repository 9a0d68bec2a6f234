// Each thread walks through a row of its own: words of so many bytes, one after the other, so many at once.
__device__ float all_of(float v) { return v; }
__device__ float all_of(unsigned short v) { return v; }
__device__ float all_of(float4 v) { return all(v); }
template <class T, int U> __device__ void walked(const T* x, float* sink, int words, int stride) {
  const T* p = x + (long)(blockIdx.x * blockDim.x + threadIdx.x) * stride;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < words; i += U) {
#pragma unroll
    for (int u = 0; u < U; ++u) sum += (float)all_of(p[i + u]);
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
#define WALKED(name, type, u) \
  extern "C" __global__ void walked_##name##_##u(const type* x, float* sink, int words, int stride) { walked<type, u>(x, sink, words, stride); }
WALKED(half, unsigned short, 1)
WALKED(half, unsigned short, 4)
WALKED(word, float, 1)
WALKED(word, float, 4)
WALKED(four, float4, 1)
WALKED(four, float4, 4)
