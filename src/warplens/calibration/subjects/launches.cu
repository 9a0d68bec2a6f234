// What it costs to start kernels and blocks, and the clocks.
extern "C" {
__global__ void empty() {}
__global__ void spin(long long* ticks, long long cycles) {
  long long t0 = clock64();
  while (clock64() - t0 < cycles);
  ticks[0] = clock64() - t0;
}
// From the last instruction of a block to the first of the next on the same multiprocessor, which holds one block only;
// 0 for a multiprocessor's first.
__global__ void block_gap(long long* ticks, volatile long long* last, long long cycles) {
  extern __shared__ float taken[];
  long long t0 = clock64();
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) {
    ticks[blockIdx.x] = last[sm] ? t0 - last[sm] : 0;
    while (clock64() - t0 < cycles);
    last[sm] = clock64();
  }
}
// When each block starts: its multiprocessor in the upper bits, the clock in the lower 48.
__global__ void block_starts(unsigned long long* ticks, long long cycles) {
  long long t0 = clock64();
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) ticks[blockIdx.x] = (unsigned long long)sm << 48 | (t0 & 0xffffffffffffull);
  while (clock64() - t0 < cycles);
}
// Cycles a thousand nanoseconds: of the first block, while all compute or all read.
#define CLOCKED(body)                                                                  \
  unsigned long long g0, g1;                                                           \
  long long c0 = clock64();                                                            \
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g0)::"memory");                     \
  body;                                                                                \
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g1)::"memory");                     \
  long long c1 = clock64();                                                            \
  if (blockIdx.x == 0 && threadIdx.x == 0) ticks[0] = (c1 - c0) * 1000 / (long long)(g1 - g0);
__global__ void clock_idle(long long* ticks, long long cycles) {
  CLOCKED(while (clock64() - c0 < cycles))
}
__global__ void clock_compute(long long* ticks, float* sink, int rounds) {
  float a = F(0), b = F(1), c = F(2), d = F(3);
  CLOCKED(for (int r = 0; r < rounds; ++r) { UNROLLED(16) { a = fmaf(a, b, 1.5f); b = fmaf(b, c, 1.5f); c = fmaf(c, d, 1.5f); d = fmaf(d, a, 1.5f); } })
  if (a + b + c + d == UNLIKELY) sink[0] = 1;
}
__global__ void clock_memory(long long* ticks, const float4* x, float* sink, long n, int rounds) {
  float sum = 0;
  CLOCKED(for (int r = 0; r < rounds; ++r) for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i < n; i += (long)blockDim.x * gridDim.x) sum += all(x[i]))
  if (sum == UNLIKELY) sink[0] = sum;
}
// What the trials need: buffers with something in them, and an L2 with something else in it.
__global__ void fill_chain(unsigned* p, unsigned n, unsigned step) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) p[i] = (i + step) % n;
}
__global__ void fill_pointers(unsigned long long* p, long n, long step) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)blockDim.x * gridDim.x) p[i] = (unsigned long long)(p + (i + step) % n);
}
__global__ void fill(float* p, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)blockDim.x * gridDim.x) p[i] = (i * 2654435761u >> 8) * 1e-7f;
}
__global__ void sweep(const float4* p, float* sink, long n) {
  float sum = 0;
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)blockDim.x * gridDim.x) sum += p[i].x;
  if (sum == UNLIKELY) sink[0] = sum;
}
}
