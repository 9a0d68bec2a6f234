// Threads that walk along rows of their own, and warps that walk along the same.
// Words of K arrays at once, one word after the other; of each warp the first `lanes` lanes walk.
template <int K> __device__ void walked(const float* x, float* sink, int words, int stride, long apart, int lanes) {
  const float* p = x + (long)(blockIdx.x * blockDim.x + threadIdx.x) * stride;
  float sum = 0;
  if (threadIdx.x % 32 >= lanes) return;
#pragma unroll 1
  for (int w = 0; w < words; ++w) {
    UNROLLED(K) sum += p[i * apart + w];
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
#define WALKED(K)                                                                                                      \
  extern "C" __global__ void walk_loads_##K(const float* x, float* sink, int words, int stride, long apart, int lanes) { \
    walked<K>(x, sink, words, stride, apart, lanes);                                                                   \
  }
WALKED(1)
WALKED(2)
WALKED(4)
// The same with stores of so many bytes.
#define STORED(name, type, value)                                                            \
  extern "C" __global__ void walk_stores_##name(type* y, int words, int stride) {           \
    type* p = y + (long)(blockIdx.x * blockDim.x + threadIdx.x) * stride;                   \
    _Pragma("unroll 4") for (int w = 0; w < words; ++w)((volatile type*)p)[w] = value;      \
  }
STORED(1, unsigned char, w)
STORED(2, unsigned short, w)
STORED(4, float, w)
STORED(8, double, w)
extern "C" {
__global__ void walk_stores_16(float4* y, int words, int stride) {
  float4* p = y + (long)(blockIdx.x * blockDim.x + threadIdx.x) * stride;
#pragma unroll 4
  for (int w = 0; w < words; ++w)
    asm volatile("st.global.v4.f32 [%0], {%1,%1,%1,%1};" ::"l"(p + w), "f"((float)w) : "memory");
}
// Sums of what comes before in the row, word by word.
__global__ void walk_sums(const float* x, float* y, int words, int stride) {
  long row = (long)(blockIdx.x * blockDim.x + threadIdx.x) * stride;
  float sum = 0;
  for (int w = 0; w < words; ++w) y[row + w] = sum += x[row + w];
}
// In each round `alike` warps of a block of 8 ask for the same pieces at the same time, 16 of `lanes` words.
__global__ void walk_alike(const float* x, float* sink, int alike, int lanes, int rounds) {
  float sum = 0;
  int warp = threadIdx.x / 32, groups = 8 / alike;
  for (int r = 0; r < rounds; ++r) {
    const float* p = x + (((long)r * gridDim.x + blockIdx.x) * groups + warp / alike) * 16 * lanes + threadIdx.x % lanes;
    float v[16];
    UNROLLED(16) v[i] = p[i * lanes];
    UNROLLED(16) sum += v[i];
    __syncthreads();
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
// So many lines, a pitch apart, are read round after round, each by another thread of one block.
__global__ void walk_again(const float* x, float* sink, int lines, int pitch, int rounds) {
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    for (int i = threadIdx.x; i < lines; i += blockDim.x) sum += x[(long)i * pitch];
    __syncthreads();
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
// Each half of a warp reads the 16 words of a row of its own, word by word, without a wait between them.
__global__ void walk_row(const float* x, float* sink, int rounds) {
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    const float* p = x + (((long)r * gridDim.x + blockIdx.x) * (blockDim.x / 16) + threadIdx.x / 16) * 16;
    float v[16];
    UNROLLED(16) asm volatile("ld.global.f32 %0, [%1];" : "=f"(v[i]) : "l"(p + i));
    UNROLLED(16) sum += v[i];
    __syncthreads();
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
}
