// Arithmetic of two kinds in turn, and 64-bit arithmetic: four chains, or one, of so many steps.
#define K unsigned
#define WIDE(x) asm volatile("{.reg .u32 l, h; mov.b64 {l, h}, %0; mad.wide.u32 %0, h, %1, %2;}" : "+l"(x) : "r"(k), "l"(kk))
#define WIDELOP(x) asm volatile("{.reg .u64 t; .reg .u32 l, h; mul.wide.u32 t, %0, %1; mov.b64 {l, h}, t; xor.b32 %0, l, h;}" : "+r"(x) : "r"(k))
#define SUM(x) asm volatile("add.u64 %0, %0, %1;" : "+l"(x) : "l"(kk))
#define TIMES(x) asm volatile("mul.lo.u64 %0, %0, %1;" : "+l"(x) : "l"(kk))
#define LESS(x) asm volatile("{.reg .pred p; setp.lt.u64 p, %0, %1; selp.u64 %0, %1, %0, p;}" : "+l"(x) : "l"(kk))
#define HIGH(x) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(x) : "r"(k))
#define HIGHSUM(x) asm volatile("mad.hi.u32 %0, %0, %1, %0;" : "+r"(x) : "r"(k))
#define IMAD(x) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(k), "r"(k2))
#define LOP(x) asm volatile("lop3.b32 %0, %0, %1, 7, 0x1e;" : "+r"(x) : "r"(k))
#define SHF(x) asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(x) : "r"(k))
#define SEL(x) asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %1, %2, p;}" : "+r"(x) : "r"(k), "r"(k2))
#define POPC(x) asm volatile("popc.b32 %0, %0;" : "+r"(x))
#define CVT(x) asm volatile("{.reg .f32 f; mov.b32 f, %0; cvt.rzi.u32.f32 %0, f;}" : "+r"(x))
#define MUFU(x) asm volatile("{.reg .f32 f; mov.b32 f, %0; ex2.approx.ftz.f32 f, f; mov.b32 %0, f;}" : "+r"(x))
#define FFMA(x) asm volatile("{.reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; fma.rn.f32 f, f, g, g; mov.b32 %0, f;}" : "+r"(x) : "r"(k))
#define FFMAS(x) FFMA(x); FFMA(x); FFMA(x)
#define HALF(x) asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(k))
#define HALFSUM(x) asm volatile("add.rn.f16x2 %0, %0, %1;" : "+r"(x) : "r"(k))
#define ADD(x) asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(k))
#define NONE(x)
#define MIXED(name, type, count, one, other, third)                                                                \
  extern "C" __global__ void mixed_##name(long long* ticks, float* sink, int rounds, unsigned k, unsigned k2) {   \
    unsigned long long kk = (unsigned long long)k << 32 | k2;                                                      \
    type x[8];                                                                                                     \
    UNROLLED(8) x[i] = (type)(threadIdx.x * 7 + i) * 0x10001u + k2;                                                \
    TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int n = 0; n < 64 / count; ++n) {                \
      UNROLLED(count) { one(x[i]); other(x[i]); third(x[i]); } } })                                                \
    type all = (type)kk;                                                                                           \
    UNROLLED(8) all += x[i];                                                                                       \
    if (all == (type)123456789u) sink[0] = 1;                                                                      \
  }
#define L unsigned long long
#define EACH(name, type, one, other, third) MIXED(name##_1, type, 1, one, other, third) MIXED(name##_4, type, 4, one, other, third)
EACH(wide, L, WIDE, NONE, NONE)
EACH(wide_lop, K, WIDELOP, NONE, NONE)
EACH(wide_lop_imad, K, WIDELOP, IMAD, NONE)
EACH(wide_lop_sel, K, WIDELOP, SEL, NONE)
EACH(wide_lop_high, K, WIDELOP, HIGH, NONE)
EACH(sum, L, SUM, NONE, NONE)
EACH(times, L, TIMES, NONE, NONE)
EACH(less, L, LESS, NONE, NONE)
EACH(high, K, HIGH, NONE, NONE)
EACH(highsum, K, HIGHSUM, NONE, NONE)
EACH(sel, K, SEL, NONE, NONE)
EACH(wide_sum, L, WIDE, SUM, NONE)
EACH(wide_less, L, WIDE, LESS, NONE)
EACH(imad_lop, K, IMAD, LOP, NONE)
EACH(imad_shf, K, IMAD, SHF, NONE)
EACH(imad_sel, K, IMAD, SEL, NONE)
EACH(imad_high, K, IMAD, HIGH, NONE)
EACH(high_lop, K, HIGH, LOP, NONE)
EACH(high_sel, K, HIGH, SEL, NONE)
EACH(lop_shf, K, LOP, SHF, NONE)
EACH(ffma_sel, K, FFMA, SEL, NONE)
EACH(ffma_high, K, FFMA, HIGH, NONE)
EACH(ffma_imad_lop, K, FFMA, IMAD, LOP)
EACH(imad_lop_shf, K, IMAD, LOP, SHF)
EACH(imad_sel_lop, K, IMAD, SEL, LOP)
EACH(mufu_lop, K, MUFU, LOP, NONE)
EACH(mufu_imad, K, MUFU, IMAD, NONE)
EACH(popc_imad, K, POPC, IMAD, NONE)
EACH(popc_lop, K, POPC, LOP, NONE)
EACH(cvt_imad, K, CVT, IMAD, NONE)
EACH(cvt_mufu, K, CVT, MUFU, NONE)
EACH(ffma_ffma_imad, K, FFMA, FFMA, IMAD)
EACH(ffmas_mufu_ffmas, K, FFMAS, MUFU, FFMAS)
EACH(ffmas_popc_ffmas, K, FFMAS, POPC, FFMAS)
EACH(half, K, HALF, NONE, NONE)
EACH(half_ffma, K, HALF, FFMA, NONE)
EACH(half_imad, K, HALF, IMAD, NONE)
EACH(half_lop, K, HALF, LOP, NONE)
EACH(halfsum_imad, K, HALFSUM, IMAD, NONE)
EACH(add_lop, K, ADD, LOP, NONE)
EACH(add_imad, K, ADD, IMAD, NONE)
EACH(high_ffma_ffma, K, HIGH, FFMA, FFMA)
// Doubles: with the same two factors in all chains, or with their own.
#define DOUBLES(name, n, step)                                                                             \
  extern "C" __global__ void doubles_##name##_##n(long long* ticks, float* sink, int rounds, unsigned k, unsigned k2) { \
    double a = k, b = k2, c[n], x[n], y[n];                                                                   \
    UNROLLED(n) { c[i] = threadIdx.x + i; x[i] = a + i; y[i] = b + 2 * i; }                                    \
    TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int m = 0; m < 64 / n; ++m) { UNROLLED(n) { step; } } }) \
    double all = a + b;                                                                                        \
    UNROLLED(n) all += c[i] + x[i] + y[i];                                                                     \
    if (all == 12345.678) sink[0] = 1;                                                                         \
  }
#define DFMA(c, a, b) asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(c) : "d"(a), "d"(b))
#define DADD(c, a) asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(c) : "d"(a))
#define DMUL(c, a) asm volatile("mul.rn.f64 %0, %0, %1;" : "+d"(c) : "d"(a))
DOUBLES(same, 1, DFMA(c[i], a, b))
DOUBLES(same, 4, DFMA(c[i], a, b))
DOUBLES(one, 4, DFMA(c[i], x[i], b))
DOUBLES(own, 4, DFMA(c[i], x[i], y[i]))
DOUBLES(add, 4, DADD(c[i], x[i]))
DOUBLES(mul, 4, DMUL(c[i], x[i]))
// A double and two floats.
extern "C" __global__ void doubles_floats_4(long long* ticks, float* sink, int rounds, unsigned k, unsigned k2) {
  double a = k, b = k2, c[4];
  unsigned x[4];
  UNROLLED(4) { c[i] = threadIdx.x + i; x[i] = threadIdx.x + i; }
  TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {
    _Pragma("unroll") for (int m = 0; m < 16; ++m) { UNROLLED(4) { DFMA(c[i], a, b); FFMA(x[i]); FFMA(x[i]); } }
  })
  double all = a + b;
  UNROLLED(4) all += c[i] + x[i];
  if (all == 12345.678) sink[0] = 1;
}
// Forward branches that all lanes take, or none, over some additions, or every other time.
#define HOP(x) asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p bra.uni OVER%=; add.f32 %0, %0, %2; mul.f32 %0, %0, %2; add.f32 %0, %0, %2; mul.f32 %0, %0, %2; add.f32 %0, %0, %2; mul.f32 %0, %0, %2; add.f32 %0, %0, %2; mul.f32 %0, %0, %2; add.f32 %0, %0, %2; mul.f32 %0, %0, %2; add.f32 %0, %0, %2; mul.f32 %0, %0, %2; OVER%=: }" : "+f"(x) : "r"(which), "f"(c))
extern "C" __global__ void hops(long long* ticks, float* sink, int rounds, unsigned taken, unsigned flip) {
  float a = F(0), c = 1.5f * rounds;
  unsigned which = taken;
  TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) { UNROLLED(16) { HOP(a); which ^= flip; } })
  if (a == UNLIKELY) sink[0] = a;
}
