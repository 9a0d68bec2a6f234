typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef short i16;
typedef unsigned u32; typedef int i32; typedef unsigned long long u64; typedef long long i64;
typedef float f32; typedef double f64;
#define IN static __device__ __forceinline__

IN u32 quotient(u32 a, u32 b) { return b == 0 ? a : a / b; }
IN u64 quotient(u64 a, u64 b) { return b == 0 ? a : a / b; }
IN i32 quotient(i32 a, i32 b) { return b == 0 || b == -1 ? a : a / b; }
IN i64 quotient(i64 a, i64 b) { return b == 0 || b == -1 ? a : a / b; }
IN u32 remainder_of(u32 a, u32 b) { return b == 0 ? a : a % b; }
IN u64 remainder_of(u64 a, u64 b) { return b == 0 ? a : a % b; }
IN i32 remainder_of(i32 a, i32 b) { return b == 0 || b == -1 ? a : a % b; }
IN i64 remainder_of(i64 a, i64 b) { return b == 0 || b == -1 ? a : a % b; }

IN u32 bits_of(f32 x) { return x != x ? 0x7fc00000u : __float_as_uint(x); }
IN u64 bits_of(f64 x) { return x != x ? 0x7ff8000000000000ull : (u64)__double_as_longlong(x); }
#define number_of(convert, x) ((x) != (x) ? 0 : convert(x))

IN u32 half_add(u32 a, u32 b) { u32 d; asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); return d; }
IN u32 half_mul(u32 a, u32 b) { u32 d; asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); return d; }
IN u32 half_fma(u32 a, u32 b, u32 c) {
  u32 d; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d;
}
IN f32 float_of_half(u32 a) { f32 d; asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"((u16)a)); return d; }
// Packed by hand: of a u16 that is widened, ptxas 13.0 leaves the upper half open if only a pair of halves is made of it.
IN u32 half_of_float(f32 a) {
  u32 d; asm("{.reg .b16 h, z; cvt.rn.f16.f32 h, %1; mov.b16 z, 0; mov.b32 %0, {h, z};}" : "=r"(d) : "f"(a)); return d;
}

// Warp-wide operations: first who takes part, since `m` may name lanes that have exited.
IN u32 lane_id() { u32 d; asm("mov.u32 %0, %%laneid;" : "=r"(d)); return d; }
#define PRESENT u32 on = __ballot_sync(m, 1);
IN u32 ballot(u32 m, bool c) { return __ballot_sync(m, c); }
IN u32 any_of(u32 m, bool c) { return __any_sync(m, c) != 0; }
IN u32 all_of(u32 m, bool c) { return __all_sync(m, c) != 0; }
template <class T> IN u32 match_any(u32 m, T v) { PRESENT return __match_any_sync(on, v); }
template <class T> IN u32 match_all(u32 m, T v) { PRESENT int all; u32 who = __match_all_sync(on, v, &all); return all ? who : 0; }
template <class T> IN T shuffle(u32 m, T v, u32 lane) {
  PRESENT lane &= 31;
  return __shfl_sync(on, v, on >> lane & 1 ? lane : lane_id());
}
#define SHUFFLE(name, intrinsic, formula) \
  template <int width, class T> IN T name(u32 m, T v, u32 by) { \
    PRESENT by &= 31; \
    int from = formula, own = lane_id(); \
    T t = intrinsic(on, v, by, width); \
    return from >= 0 && from / width == own / width && on >> (from & 31) & 1 ? t : v; \
  }
SHUFFLE(shuffle_up, __shfl_up_sync, (int)lane_id() - (int)by)
SHUFFLE(shuffle_down, __shfl_down_sync, (int)lane_id() + (int)by)
SHUFFLE(shuffle_xor, __shfl_xor_sync, (int)(lane_id() ^ by))
#if __CUDA_ARCH__ >= 800
#define REDUCE(name, intrinsic, formula) IN u32 name(u32 m, u32 v) { PRESENT return intrinsic(on, v); }
#else
#define REDUCE(name, intrinsic, formula) \
  IN u32 name(u32 m, u32 v) { \
    PRESENT u32 a = __shfl_sync(on, v, __ffs(on) - 1); \
    for (u32 rest = on & (on - 1); rest; rest &= rest - 1) { u32 b = __shfl_sync(on, v, __ffs(rest) - 1); a = formula; } \
    return a; \
  }
#endif
REDUCE(reduce_add, __reduce_add_sync, a + b)
REDUCE(reduce_min, __reduce_min_sync, min(a, b))
REDUCE(reduce_max, __reduce_max_sync, max(a, b))
REDUCE(reduce_and, __reduce_and_sync, a & b)
REDUCE(reduce_or, __reduce_or_sync, a | b)
REDUCE(reduce_xor, __reduce_xor_sync, a ^ b)
#define through_shared(m, v, lane) passed_on(slots, linear, m, v, lane)
IN u32 passed_on(volatile u32 *slots, u32 linear, u32 m, u32 v, u32 lane) {
  PRESENT lane &= 31;
  slots[linear] = v;
  __syncwarp(on);
  u32 t = on >> lane & 1 ? slots[(linear & ~31u) + lane] : v;
  __syncwarp(on);
  return t;
}
