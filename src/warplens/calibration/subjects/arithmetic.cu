// Pipes: rounds x 64 instructions a warp in 4 chains (a rate), or rounds x 32 in one (a latency).
#define PIPE(name, type, init, step, use)                                          \
  extern "C" __global__ void pipe_##name(long long* ticks, float* sink, int rounds) { \
    type a = init(0), b = init(1), c = init(2), d = init(3), k = init(4);          \
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) { step(a); step(b); step(c); step(d); } }) \
    if (use(a) + use(b) + use(c) + use(d) + use(k) == UNLIKELY) sink[0] = 1;       \
  }                                                                                \
  extern "C" __global__ void chain_##name(long long* ticks, float* sink, int rounds) { \
    type a = init(0), k = init(4);                                                 \
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(32) { step(a); } })          \
    if (use(a) + use(k) == UNLIKELY) sink[0] = 1;                                  \
  }
#define D(i) (double)(threadIdx.x + i)
#define H(i) __float2half2_rn(threadIdx.x + i)
#define ID(x) (float)(x)
#define HF(x) __low2float(x)
#define FMA_STEP(x) x = fmaf(x, k, 1.5f)
#define IMAD_STEP(x) x = x * k + 17u
#define LOP_STEP(x) asm volatile("lop3.b32 %0, %0, %1, 7, 0x1e;" : "+r"(x) : "r"(k))
#define SHIFT_STEP(x) asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(x) : "r"(k))
#define HALF_STEP(x) x = __hfma2(x, k, k)
#define DOUBLE_STEP(x) x = fma(x, k, 1.5)
#define MUFU_STEP(x) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x))
#define CONVERT_STEP(x) x = (unsigned)__float2int_rz(__int2float_rn((int)x))
#define POPC_STEP(x) x = __popc(x) + k
#define SHUFFLE_STEP(x) x = __shfl_xor_sync(~0u, x, 1)
#define VOTE_STEP(x) x = __ballot_sync(~0u, x & 1) + k
#define SPECIAL_STEP(x) asm volatile("{.reg .u32 t; mov.u32 t, %%warpid; xor.b32 %0, %0, t;}" : "+r"(x))
PIPE(fma, float, F, FMA_STEP, ID)
PIPE(imad, unsigned, I, IMAD_STEP, ID)
PIPE(lop, unsigned, I, LOP_STEP, ID)
PIPE(shift, unsigned, I, SHIFT_STEP, ID)
PIPE(half, __half2, H, HALF_STEP, HF)
PIPE(double, double, D, DOUBLE_STEP, ID)
PIPE(mufu, float, F, MUFU_STEP, ID)
PIPE(convert, unsigned, I, CONVERT_STEP, ID)
PIPE(popc, unsigned, I, POPC_STEP, ID)
PIPE(shuffle, unsigned, I, SHUFFLE_STEP, ID)
PIPE(vote, unsigned, I, VOTE_STEP, ID)
PIPE(special, unsigned, I, SPECIAL_STEP, ID)
#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
#define REDUCE_STEP(x) x = __reduce_add_sync(~0u, x)
PIPE(reduce, unsigned, I, REDUCE_STEP, ID)
struct Tile { float v[4]; };
__device__ Tile tile(int i) { return {{F(i), F(i + 1), F(i + 2), F(i + 3)}}; }
__device__ float sum_of(const Tile& t) { return t.v[0] + t.v[1] + t.v[2] + t.v[3]; }
#define TENSOR_STEP(x)                                                                                     \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%4,%5},{%4,%5},{%0,%1,%2,%3};" \
               : "+f"(x.v[0]), "+f"(x.v[1]), "+f"(x.v[2]), "+f"(x.v[3])                                    \
               : "r"(__float_as_uint(k.v[0])), "r"(__float_as_uint(k.v[1])))
PIPE(tensor, Tile, tile, TENSOR_STEP, sum_of)
#endif

// Two pipes at once: do they hinder each other?
#define BOTH(name, type, init, one, other, use)                                                                   \
  extern "C" __global__ void both_##name(long long* ticks, float* sink, int rounds) {                             \
    float a = F(0), b = F(1);                                                                                     \
    type c = init(2), d = init(3);                                                                                \
    {                                                                                                             \
      TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) {                                                     \
        { float k = F(4); one(a); } { type k = init(4); other(c); } { float k = F(4); one(b); } { type k = init(4); other(d); } \
      } })                                                                                                        \
    }                                                                                                             \
    if (a + b + use(c) + use(d) == UNLIKELY) sink[0] = 1;                                                         \
  }
BOTH(fma_lop, unsigned, I, FMA_STEP, LOP_STEP, ID)
BOTH(fma_imad, unsigned, I, FMA_STEP, IMAD_STEP, ID)
BOTH(fma_half, __half2, H, FMA_STEP, HALF_STEP, HF)
BOTH(fma_double, double, D, FMA_STEP, DOUBLE_STEP, ID)
BOTH(fma_mufu, float, F, FMA_STEP, MUFU_STEP, ID)

// One load of constant memory after the other, with a shift between.
__constant__ unsigned table[4096];  // zeros
extern "C" __global__ void chain_constant(long long* ticks, unsigned* sink, int rounds) {
  unsigned i0 = threadIdx.x / 1024;
  TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(32) i0 = table[i0]; })
  if (i0 == 123456789u) sink[0] = i0;
}
// One instruction between two readings of the clock, and nothing between them.
extern "C" __global__ void single_special(long long* ticks, unsigned* sink) {
  unsigned x = 0;
  for (int r = 0; r < 4; ++r) {
    long long t0 = clock64();
    asm volatile("{.reg .u32 t; mov.u32 t, %%smid; add.u32 %0, %0, t;}" : "+r"(x));
    long long t1 = clock64();
    if (threadIdx.x == 0) ticks[0] = t1 - t0;
  }
  if (x == 123456789u) sink[0] = x;
}
extern "C" __global__ void single_nothing(long long* ticks, unsigned* sink) {
  for (int r = 0; r < 4; ++r) {
    long long t0 = clock64();
    long long t1 = clock64();
    if (threadIdx.x == 0) ticks[0] = t1 - t0;
  }
}
