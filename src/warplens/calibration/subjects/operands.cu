// What reading registers costs: instructions with three sources, in so many chains, with the same two or with their own.
#define CHAINED(name, type, init, n, step)                                                                     \
  extern "C" __global__ void name##_##n(long long* ticks, float* sink, int rounds, type a, type b) {          \
    type c[n], x[n], y[n];                                                                                     \
    UNROLLED(n) { c[i] = init(i); x[i] = a + init(i); y[i] = b + init(2 * i); }                                \
    TICKS(for (int r = 0; r < rounds; ++r) {                                                                   \
      _Pragma("unroll") for (int k = 0; k < 64 / n; ++k) { UNROLLED(n) { step; } }                             \
    })                                                                                                         \
    type all = a + b;                                                                                          \
    UNROLLED(n) all += c[i] + x[i] + y[i];                                                                     \
    if (all == (type)UNLIKELY) sink[0] = 1;                                                                    \
  }
#define LOP3(c, a, b) asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(c) : "r"(a), "r"(b))
#define ADD3(c, a, b) c = c + a + b
CHAINED(fma_same, float, F, 1, c[i] = fmaf(c[i], a, b))
CHAINED(fma_same, float, F, 2, c[i] = fmaf(c[i], a, b))
CHAINED(fma_same, float, F, 4, c[i] = fmaf(c[i], a, b))
CHAINED(fma_same, float, F, 8, c[i] = fmaf(c[i], a, b))
CHAINED(fma_own, float, F, 1, c[i] = fmaf(c[i], x[i], y[i]))
CHAINED(fma_own, float, F, 2, c[i] = fmaf(c[i], x[i], y[i]))
CHAINED(fma_own, float, F, 4, c[i] = fmaf(c[i], x[i], y[i]))
CHAINED(fma_own, float, F, 8, c[i] = fmaf(c[i], x[i], y[i]))
CHAINED(fma_add, float, F, 4, c[i] = fmaf(x[i], y[i], c[i]))
CHAINED(fma_add, float, F, 8, c[i] = fmaf(x[i], y[(i + 1) % 8], c[i]))
CHAINED(fma_outer, float, F, 16, c[i] = fmaf(x[i % 4], y[i / 4], c[i]))
CHAINED(lop_own, unsigned, I, 4, LOP3(c[i], x[i], y[i]))
CHAINED(lop_own, unsigned, I, 8, LOP3(c[i], x[i], y[i]))
CHAINED(add_own, unsigned, I, 4, ADD3(c[i], x[i], y[i]))
CHAINED(imad_own, unsigned, I, 4, c[i] = c[i] * x[i] + y[i])
CHAINED(both_own, float, F, 4, { c[i] = fmaf(c[i], x[i], y[i]); asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+f"(x[i]) : "f"(y[i]), "f"(a)); })
