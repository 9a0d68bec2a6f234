// Words anywhere: each lane reads a word of its own, U at once, of so many bytes (a power of two).
#define GATHER(U)                                                                                    \
  extern "C" __global__ void gather_##U(const float* x, float* sink, unsigned words, int rounds) {  \
    unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u;                            \
    float sum = 0;                                                                                  \
    for (int r = 0; r < rounds; ++r) {                                                              \
      float v[U];                                                                                   \
      UNROLLED(U) {                                                                                 \
        at = at * 1664525u + 1013904223u;                                                           \
        v[i] = x[(unsigned)(((unsigned long long)(at ^ at >> 15) * words) >> 32)];                  \
      }                                                                                             \
      UNROLLED(U) sum += v[i];                                                                      \
    }                                                                                               \
    if (sum == UNLIKELY) sink[0] = sum;                                                             \
  }
GATHER(1)
GATHER(4)
extern "C" {
__global__ void scatter_1(float* y, unsigned words, int rounds) {
  unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u;
  for (int r = 0; r < rounds; ++r) {
    at = at * 1664525u + 1013904223u;
    y[(unsigned)(((unsigned long long)(at ^ at >> 15) * words) >> 32)] = r;
  }
}
}
