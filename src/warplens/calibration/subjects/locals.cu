// Arrays of a thread in local memory, K words each: `own` is the first index, which the compiler does not know.
#define LOCAL(K)                                                                                                   \
  extern "C" __global__ void local_stores_##K(float* sink, int own, int rounds) {                                  \
    float a[K];                                                                                                    \
    for (int r = 0; r < rounds; ++r) {                                                                             \
      UNROLLED(8) a[(r * 8 + i + own) & (K - 1)] = r + i;                                                          \
    }                                                                                                              \
    if (a[own & (K - 1)] == UNLIKELY) sink[0] = a[(own + 3) & (K - 1)];                                            \
  }                                                                                                                \
  extern "C" __global__ void local_loads_##K(float* sink, int own, int rounds) {                                   \
    float a[K], sum = 0;                                                                                           \
    for (int i = 0; i < K; ++i) a[(i + own) & (K - 1)] = i;                                                        \
    for (int r = 0; r < rounds; ++r) {                                                                             \
      UNROLLED(8) sum += a[(r * 8 + i * 5 + own) & (K - 1)];                                                       \
    }                                                                                                              \
    if (sum == UNLIKELY) sink[0] = sum;                                                                            \
  }                                                                                                                \
  extern "C" __global__ void local_both_##K(float* sink, int own, int rounds) {                                    \
    float a[K], sum = 0;                                                                                           \
    for (int i = 0; i < K; ++i) a[(i + own) & (K - 1)] = i;                                                        \
    for (int r = 0; r < rounds; ++r) {                                                                             \
      UNROLLED(4) {                                                                                                \
        a[(r * 4 + i + own) & (K - 1)] = sum;                                                                      \
        sum += a[(r * 4 + i * 3 + K / 2 + own) & (K - 1)];                                                         \
      }                                                                                                            \
    }                                                                                                              \
    if (sum == UNLIKELY) sink[0] = sum;                                                                            \
  }
LOCAL(8)
LOCAL(16)
LOCAL(32)
LOCAL(64)
LOCAL(128)
LOCAL(512)
