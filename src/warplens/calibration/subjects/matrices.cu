// Matrix instructions by shape and type, and lanes that look for equals.
#define STEPS(name, decls, step, used)                                                     \
  extern "C" __global__ void matrix_##name(long long* ticks, float* sink, int rounds) {  \
    decls                                                                                 \
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) { step(0) step(1) step(2) step(3) } }) \
    if (used(0) + used(1) + used(2) + used(3) == UNLIKELY) sink[0] = 1;                    \
  }                                                                                       \
  extern "C" __global__ void matrix_chain_##name(long long* ticks, float* sink, int rounds) { \
    decls                                                                                 \
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(32) { step(0) } })                  \
    if (used(0) == UNLIKELY) sink[0] = 1;                                                 \
  }
#if __CUDA_ARCH__ >= 800
#define WORDS unsigned z[4][4] = {{I(0), I(1), I(2), I(3)}, {I(4), I(5), I(6), I(7)}, {I(8), I(9), I(10), I(11)}, {I(12), I(13), I(14), I(15)}}; \
  unsigned u = I(16), v = I(17);
#define FIRST_WORD(i) __uint_as_float(z[i][0])
#define IN_FOUR(op, A, B, i) asm volatile(op " {%0,%1,%2,%3}, {" A "}, {" B "}, {%0,%1,%2,%3};" \
    : "+r"(z[i][0]), "+r"(z[i][1]), "+r"(z[i][2]), "+r"(z[i][3]) : "r"(u), "r"(v));
#define IN_TWO(op, A, B, i) asm volatile(op " {%0,%1}, {" A "}, {" B "}, {%0,%1};" \
    : "+r"(z[i][0]), "+r"(z[i][1]) : "r"(u), "r"(v));
#define TF32_4(i) IN_FOUR("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "%4,%5", "%4", i)
#define BF16_8(i) IN_FOUR("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "%4,%5", "%4", i)
#define HALF_8(i) IN_TWO("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "%2,%3", "%2", i)
#define INT_8816(i) IN_TWO("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", "%2", "%3", i)
#define INT_16816(i) IN_FOUR("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", "%4,%5", "%4", i)
#define BITS_8128(i) IN_TWO("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc", "%2", "%3", i)
#define BITS_16128(i) IN_FOUR("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", "%4,%5", "%4", i)
#define BITS_16256(i) IN_FOUR("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", "%4,%5,%4,%5", "%4,%5", i)
#define WORD_STEPS(name, step) STEPS(name, WORDS, step, FIRST_WORD)
WORD_STEPS(tf32_1684, TF32_4)
WORD_STEPS(bf16_1688, BF16_8)
WORD_STEPS(half_1688, HALF_8)
WORD_STEPS(int_8816, INT_8816)
WORD_STEPS(int_16816, INT_16816)
WORD_STEPS(bits_88128, BITS_8128)
WORD_STEPS(bits_168128, BITS_16128)
WORD_STEPS(bits_168256, BITS_16256)
#endif
#if __CUDA_ARCH__ >= 900
#define LONGS double z[4][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}}; double u = threadIdx.x, v = u + 1;
#define FIRST_LONG(i) (float)z[i][0]
#define IN_LONGS(op, A, B, i) asm volatile(op " {%0,%1,%2,%3}, {" A "}, {" B "}, {%0,%1,%2,%3};" \
    : "+d"(z[i][0]), "+d"(z[i][1]), "+d"(z[i][2]), "+d"(z[i][3]) : "d"(u), "d"(v));
#define DOUBLE_4(i) IN_LONGS("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", "%4,%5", "%4", i)
#define DOUBLE_8(i) IN_LONGS("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", "%4,%5,%4,%5", "%4,%5", i)
#define DOUBLE_16(i) IN_LONGS("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", "%4,%5,%4,%5,%4,%5,%4,%5", "%4,%5,%4,%5", i)
STEPS(double_1684, LONGS, DOUBLE_4, FIRST_LONG)
STEPS(double_1688, LONGS, DOUBLE_8, FIRST_LONG)
STEPS(double_16816, LONGS, DOUBLE_16, FIRST_LONG)
#endif
// Lanes that look for equals: `kinds` different values in a warp, one look after the other, or four at once.
#define LOOK(x) asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(same) : "r"(x)); found ^= same; x += same == 123456789u;
#define LOOK_LONG(x) asm volatile("match.any.sync.b64 %0, %1, 0xffffffff;" : "=r"(same) : "l"((unsigned long long)x)); found ^= same; x += same == 123456789u;
#define LOOK_ALL(x) asm volatile("match.all.sync.b32 %0, %1, 0xffffffff;" : "=r"(same) : "r"(x)); found ^= same; x += same == 123456789u;
#define EQUALS(name, step)                                                                            \
  extern "C" __global__ void equals_##name(long long* ticks, float* sink, int rounds, int kinds) {    \
    unsigned found = 0, a = threadIdx.x % 32 % kinds, b = a + 100, c = a + 200, d = a + 300, same;     \
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(4) { step(a) step(b) step(c) step(d) } })        \
    if (found == 123456789u) sink[0] = 1;                                                             \
  }                                                                                                   \
  extern "C" __global__ void equals_##name##_chain(long long* ticks, float* sink, int rounds, int kinds) { \
    unsigned found = 0, a = threadIdx.x % 32 % kinds, same;                                            \
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) { step(a) } })                               \
    if (found == 123456789u) sink[0] = 1;                                                             \
  }
EQUALS(any, LOOK)
EQUALS(any_long, LOOK_LONG)
EQUALS(all, LOOK_ALL)
