// Chains through global memory.
extern "C" {
// p[i] is the index of the next element: the address is computed between two loads.
__global__ void chase(long long* ticks, const unsigned* p, unsigned* sink, int rounds, unsigned start) {
  unsigned i = start;
  for (int r = 0; r < 64; ++r) i = p[i];
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = p[i]; })
  if (i == 0xffffffffu) sink[0] = i;
}
__global__ void chase_warm(long long* ticks, const unsigned* p, unsigned* sink, int rounds, unsigned start) {
  unsigned i = start;
  for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = p[i]; }
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = p[i]; })
  if (i == 0xffffffffu) sink[0] = i;
}
// Memory of zeros; each step adds what it has read: the way to far-away pages without filling them.
__global__ void chase_pages(long long* ticks, const unsigned* p, unsigned* sink, int rounds, long step, long words) {
  long i = 0;
  TICKS(for (int r = 0; r < rounds; ++r) { i += step + p[i]; if (i >= words) i -= words; })
  if (i == -1) sink[0] = i;
}
// p[i] is the address of the next element: nothing stands between two loads.  All lanes read the same.
#define POINTERS(name, load)                                                                                    \
  __global__ void name(long long* ticks, void* p, unsigned* sink, int rounds) {                                 \
    unsigned long long at = (unsigned long long)p;                                                              \
    for (int r = 0; r < rounds; ++r) { UNROLLED(16) asm volatile(load : "+l"(at)::"memory"); }                  \
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) asm volatile(load : "+l"(at)::"memory"); })           \
    if (at == 1) sink[0] = 1;                                                                                   \
  }
POINTERS(pointers, "ld.global.u64 %0, [%0];")
POINTERS(pointers_l2, "ld.global.cg.u64 %0, [%0];")
// The latency of each line by itself, past L1: `apart` bytes from one to the next.  `from`: the block that measures.
__global__ void lines(long long* ticks, const char* p, unsigned* sink, int count, int apart, int from, int rounds) {
  if (blockIdx.x != from) return;
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r)
    for (int i = 0; i < count; ++i) {
      unsigned v;
      long long t0 = clock64();
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p + (long)i * apart + (sum & 64)) : "memory");
      sum += v & 1;
      asm volatile("add.u32 %0, %0, 0;" : "+r"(sum)::"memory");
      long long t1 = clock64();
      if (threadIdx.x == 0) ticks[i] = t1 - t0;
    }
  if (sum == 123456789u) sink[0] = sum;
}
// Block 0 follows a chain while the others read all of x: latency under load.
__global__ void loaded(long long* ticks, void* p, unsigned* sink, int rounds, const float4* x, long n, int ahead) {
  if (blockIdx.x == 0) {
    if (threadIdx.x >= 32) return;
    unsigned long long at = (unsigned long long)p;
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory"); })
    if (at == 1) sink[0] = 1;
    return;
  }
  long step = (long)blockDim.x * (gridDim.x - 1), i = threadIdx.x + (long)(blockIdx.x - 1) * blockDim.x;
  float sum = 0;
  if (ahead == 1) {
#pragma unroll 1
    for (; i < n; i += step) sum += all(x[i]);
  } else {
#pragma unroll 1
    for (; i + 3 * step < n; i += 4 * step) {
      float4 a = x[i], b = x[i + step], c = x[i + 2 * step], d = x[i + 3 * step];
      sum += all(a) + all(b) + all(c) + all(d);
    }
  }
  if (sum == UNLIKELY) sink[0] = 1;
}
}
