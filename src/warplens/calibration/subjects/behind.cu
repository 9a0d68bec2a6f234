// Hits in L1 beside misses: each thread goes down a column, row by row; what it reads of a row it has, or not.
extern "C" {
// One new row, and `again` words of rows that L1 has; the new one first, and waited for last.
#define DOWN(name, new_first, hits)                                                                             \
  __global__ void name(long long* ticks, const float* x, float* sink, int rows, int width) {                   \
    const float* p = x + threadIdx.x + blockIdx.x * blockDim.x;                                                \
    float v = 0, far, near[4];                                                                                 \
    UNROLLED(8) v += p[(long)i * width];                                                                       \
    long long t0 = clock64();                                                                                  \
    _Pragma("unroll 1") for (int r = 8; r < rows; ++r) {                                                       \
      const float* q = p + (long)r * width + (v == UNLIKELY);                                                  \
      if (new_first) asm volatile("ld.global.f32 %0, [%1];" : "=f"(far) : "l"(q));                             \
      UNROLLED(hits) asm volatile("ld.global.f32 %0, [%1];" : "=f"(near[i]) : "l"(q - (long)(i + 1) * width)); \
      if (!new_first) asm volatile("ld.global.f32 %0, [%1];" : "=f"(far) : "l"(q));                            \
      UNROLLED(hits) v = fmaf(v, 0.5f, near[i]);                                                               \
      v = fmaf(v, 0.5f, far);                                                                                  \
    }                                                                                                          \
    if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = clock64() - t0;           \
    if (v == UNLIKELY) sink[0] = v;                                                                            \
  }
DOWN(down_0, 1, 0)
DOWN(down_first_1, 1, 1)
DOWN(down_first_4, 1, 4)
DOWN(down_last_4, 0, 4)
// Hits that are waited for while a miss is on its way, whose result is needed only in the next round.
__global__ void down_ahead(long long* ticks, const float* x, float* sink, int rows, int width) {
  const float* p = x + threadIdx.x + blockIdx.x * blockDim.x;
  float v = 0, far = 0, near;
  UNROLLED(8) v += p[(long)i * width];
  long long t0 = clock64();
  _Pragma("unroll 1") for (int r = 8; r < rows; ++r) {
    const float* q = p + (long)r * width;
    v = fmaf(v, 0.5f, far);
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(far) : "l"(q));
    UNROLLED(4) {
      asm volatile("ld.global.f32 %0, [%1];" : "=f"(near) : "l"(q - (long)(i + 2) * width + (v == UNLIKELY)));
      v = fmaf(v, 0.5f, near);
    }
  }
  if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = clock64() - t0;
  if (v == UNLIKELY) sink[0] = v;
}
// One warp a block reads a row twice, and writes it.
__global__ void rows_twice(const float* x, float* y, int row) {
  float sum = 0;
  const float* p = x + (long)blockIdx.x * row;
  for (int i = threadIdx.x; i < row; i += 32) sum += p[i];
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  for (int i = threadIdx.x; i < row; i += 32) y[(long)blockIdx.x * row + i] = p[i] * sum;
}
// Lanes walk along runs of their own of so many words, in no more warps than are resident.
__global__ void read_runs_of(const float* x, float* sink, long n, int run, int apart) {
  float sum = 0;
  for (long w = threadIdx.x + (long)blockIdx.x * blockDim.x; w * apart < n; w += (long)blockDim.x * gridDim.x)
    for (int i = 0; i < run; ++i) sum += x[w * apart + i];
  if (sum == UNLIKELY) sink[0] = sum;
}
}
