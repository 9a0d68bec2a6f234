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
// One word a thread, all of them in an order that looks like chance: place(i) is another for every i below a power of two.
__device__ unsigned place(unsigned i, unsigned mask, int bits) {
  UNROLLED(3) {
    i = i * 2654435761u + 12345u & mask;
    i ^= i >> (bits + 1) / 2;
  }
  return i;
}
#define PERMUTED(name, body)                                                                            \
  extern "C" __global__ void name(const float* x, float* y, unsigned mask, int bits) {                 \
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;                                                 \
    body;                                                                                               \
  }
PERMUTED(permuted_loads, y[i] = x[place(i, mask, bits)])
PERMUTED(permuted_stores, y[place(i, mask, bits)] = x[i])
PERMUTED(permuted_adds, atomicAdd(y + place(i, mask, bits), x[i]))
