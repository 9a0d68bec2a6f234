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
#define HIGH_STEP(x) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(x) : "r"(k))
PIPE(high, unsigned, I, HIGH_STEP, ID)
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
#define PERMUTE_STEP(x) asm volatile("prmt.b32 %0, %0, %1, 0x5140;" : "+r"(x) : "r"(k))
#define FADD_STEP(x) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(k))
#define FLEAST_STEP(x) asm volatile("min.f32 %0, %0, %1;" : "+f"(x) : "f"(k))
#define DADD_STEP(x) x = x + k
#define ROOT_STEP(x) asm volatile("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x))
#define TO_HALF_STEP(x) asm volatile("{.reg .b16 h; cvt.rn.f16.f32 h, %0; cvt.f32.f16 %0, h;}" : "+f"(x))
#define TO_DOUBLE_STEP(x) asm volatile("{.reg .f64 d; cvt.f64.f32 d, %0; cvt.rn.f32.f64 %0, d;}" : "+f"(x))
#define LEADING_STEP(x) asm volatile("clz.b32 %0, %0;" : "+r"(x))
PIPE(permute, unsigned, I, PERMUTE_STEP, ID)
PIPE(fadd, float, F, FADD_STEP, ID)
PIPE(fleast, float, F, FLEAST_STEP, ID)
PIPE(dadd, double, D, DADD_STEP, ID)
PIPE(root, float, F, ROOT_STEP, ID)
PIPE(to_half, float, F, TO_HALF_STEP, ID)
PIPE(to_double, float, F, TO_DOUBLE_STEP, ID)
PIPE(leading, unsigned, I, LEADING_STEP, ID)
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
#define MMA(x, shape, types, a, b)                                                                       \
  asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}," a "," b ",{%0,%1,%2,%3};"   \
               : "+f"(x.v[0]), "+f"(x.v[1]), "+f"(x.v[2]), "+f"(x.v[3])                                    \
               : "r"(__float_as_uint(k.v[0])), "r"(__float_as_uint(k.v[1])))
#define MMA_WORDS(x, shape, types, a, b)                                                                 \
  asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}," a "," b ",{%0,%1,%2,%3};"   \
               : "+r"(x.v[0]), "+r"(x.v[1]), "+r"(x.v[2]), "+r"(x.v[3]) : "r"(k.v[0]), "r"(k.v[1]))
struct Words4 { unsigned v[4]; };
__device__ Words4 tile_of_words(int i) { return {{I(i), I(i + 1), I(i + 2), I(i + 3)}}; }
__device__ float sum_of(const Words4& t) { return (float)(t.v[0] + t.v[1] + t.v[2] + t.v[3]); }
#define TENSOR8_STEP(x) MMA(x, "m16n8k8", "f32.f16.f16.f32", "{%4,%5}", "{%4}")
#define TENSOR_BF16_STEP(x) MMA(x, "m16n8k16", "f32.bf16.bf16.f32", "{%4,%5,%4,%5}", "{%4,%5}")
#define TENSOR_TF32_STEP(x) MMA(x, "m16n8k8", "f32.tf32.tf32.f32", "{%4,%5,%4,%5}", "{%4,%5}")
#define TENSOR_INT_STEP(x) MMA_WORDS(x, "m16n8k32", "s32.s8.s8.s32", "{%4,%5,%4,%5}", "{%4,%5}")
#define TENSOR_HALF_STEP(x) asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%2,%3},{%2,%3},{%0,%1};" \
               : "+r"(x.v[0]), "+r"(x.v[1]) : "r"(k.v[0]), "r"(k.v[1]))
struct Doubles { double v[2]; };
__device__ Doubles doubles(int i) { return {{D(i), D(i + 1)}}; }
__device__ float sum_of(const Doubles& t) { return (float)(t.v[0] + t.v[1]); }
#define TENSOR_DOUBLE_STEP(x) asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};" \
               : "+d"(x.v[0]), "+d"(x.v[1]) : "d"(k.v[0]), "d"(k.v[1]))
PIPE(tensor8, Tile, tile, TENSOR8_STEP, sum_of)
PIPE(tensor_bf16, Tile, tile, TENSOR_BF16_STEP, sum_of)
PIPE(tensor_tf32, Tile, tile, TENSOR_TF32_STEP, sum_of)
PIPE(tensor_int, Words4, tile_of_words, TENSOR_INT_STEP, sum_of)
PIPE(tensor_half, Words4, tile_of_words, TENSOR_HALF_STEP, sum_of)
PIPE(tensor_double, Doubles, doubles, TENSOR_DOUBLE_STEP, sum_of)
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
