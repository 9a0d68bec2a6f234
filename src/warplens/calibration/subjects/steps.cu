// Blocks of a grid of tiles that go through the same rows and columns, step by step, as blocks of a matrix product do.
// Tiles of EDGE x EDGE: a step reads 8 columns of EDGE rows of a and EDGE columns of 8 rows of b, n x n floats each,
// and then does `work` multiply-adds one after the other.
#define STEPS(EDGE)                                                                                               \
  extern "C" __global__ void steps_##EDGE(const float* a, const float* b, float* sink, int n, int work) {        \
    int across = n / EDGE, x = blockIdx.x % across * EDGE, y = blockIdx.x / across * EDGE;                        \
    float sum = 0;                                                                                                \
    for (int k = 0; k < n; k += 8) {                                                                              \
      float v[EDGE / 16];                                                                                         \
      UNROLLED(EDGE / 32) {                                                                                       \
        int at = threadIdx.x + i * 256;                                                                           \
        v[2 * i] = __ldcg(a + (long)(y + at / 8) * n + k + at % 8);                                               \
        v[2 * i + 1] = __ldcg(b + (long)(k + at / EDGE) * n + x + at % EDGE);                                     \
      }                                                                                                           \
      UNROLLED(EDGE / 16) sum += v[i];                                                                            \
      for (int w = 0; w < work; ++w) sum = sum * 1.5f + 2;                                                        \
      __syncthreads();                                                                                            \
    }                                                                                                             \
    if (sum == UNLIKELY) sink[0] = sum;                                                                           \
  }
STEPS(32)
STEPS(64)
STEPS(128)
