// The clock of multiprocessors whose matrix units work, and what is nearer or farther by it.
#define CLOCKED(body)                                                                  \
  unsigned long long g0, g1;                                                           \
  long long c0 = clock64();                                                            \
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g0)::"memory");                     \
  body;                                                                                \
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g1)::"memory");                     \
  long long c1 = clock64();                                                            \
  if (blockIdx.x == 0 && threadIdx.x == 0) ticks[0] = (c1 - c0) * 1000 / (long long)(g1 - g0);
#define NOTHING(i) z[i][0] = fmaf(z[i][0], 0.5f, 1.5f);
#define STARTS float z[4][4] = {}; unsigned h[4][4] = {}, u = I(1), v = I(2); double d[4][2] = {}, e = u;
#define USED (z[0][0] + z[1][1] + z[2][2] + z[3][3] + (float)(h[0][0] ^ h[1][1] ^ h[2][1] ^ h[3][0]) + (float)(d[0][0] + d[1][0] + d[2][1] + d[3][1]))
// Four steps, and so often 16 sums behind them.
#define CLOCK(name, step)                                                                                             \
  extern "C" __global__ void clock_##name(long long* ticks, float* sink, int rounds, int between) {                   \
    STARTS                                                                                                            \
    float a = F(0);                                                                                                   \
    CLOCKED(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {                                                    \
      step(0) step(1) step(2) step(3)                                                                                 \
      _Pragma("unroll 1") for (int f = 0; f < between; ++f) { UNROLLED(16) a = fmaf(a, 0.5f, 1.5f); }                 \
    })                                                                                                                \
    if (a + USED == UNLIKELY) sink[0] = a;                                                                            \
  }                                                                                                                   \
  /* The first warp goes from address to address past L1 while the others of its block take steps. */                 \
  extern "C" __global__ void chase_beside_##name(long long* ticks, void* p, float* sink, int rounds) {                \
    __shared__ volatile int over;                                                                                     \
    over = 0;                                                                                                         \
    __syncthreads();                                                                                                  \
    STARTS                                                                                                            \
    unsigned long long at = (unsigned long long)p;                                                                    \
    if (threadIdx.x < 32) {                                                                                           \
      TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory"); }) \
      over = 1;                                                                                                       \
    } else {                                                                                                          \
      while (!over) { step(0) step(1) step(2) step(3) }                                                               \
    }                                                                                                                 \
    if (USED == UNLIKELY || at == 1) sink[0] = 1;                                                                     \
  }                                                                                                                   \
  /* All read the same words of L2 again and again, four at once, and take steps for them. */                         \
  extern "C" __global__ void read_beside_##name(const float4* x, float* sink, int words, int rounds) {                \
    STARTS                                                                                                            \
    float sum = 0;                                                                                                    \
    int all_threads = blockDim.x * gridDim.x;                                                                         \
    for (int r = 0; r < rounds; ++r) {                                                                                \
      for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < words; at += 4 * all_threads) {                       \
        float4 q[4];                                                                                                  \
        UNROLLED(4) q[i] = __ldcg(x + at + i * all_threads);                                                          \
        step(0)                                                                                                       \
        UNROLLED(4) sum += all(q[i]);                                                                                 \
      }                                                                                                               \
    }                                                                                                                 \
    if (sum + USED == UNLIKELY) sink[0] = sum;                                                                        \
  }
#if __CUDA_ARCH__ >= 800
#define FLOATS(i) asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};" \
    : "+f"(z[i][0]), "+f"(z[i][1]), "+f"(z[i][2]), "+f"(z[i][3]) : "r"(u), "r"(v));
#define HALVES(i) asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, {%3,%3}, {%0,%1};" \
    : "+r"(h[i][0]), "+r"(h[i][1]) : "r"(u), "r"(v));
#define INTEGERS(i) asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};" \
    : "+r"(h[i][0]), "+r"(h[i][1]), "+r"(h[i][2]), "+r"(h[i][3]) : "r"(u), "r"(v));
#define DOUBLES(i) asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" \
    : "+d"(d[i][0]), "+d"(d[i][1]) : "d"(e), "d"(e));
CLOCK(floats, FLOATS)
CLOCK(halves, HALVES)
CLOCK(integers, INTEGERS)
CLOCK(doubles, DOUBLES)
#endif
CLOCK(none, NOTHING)
