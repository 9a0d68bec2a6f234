// What L2 keeps: words anywhere in a part of memory, alone and while streams pass through L2, and parts that are read
// again and again.
#define NEXT at = at * 1664525u + 1013904223u
#define PLACE(words) (unsigned)(((unsigned long long)(at ^ at >> 15) * (words)) >> 32)
#define BESIDE(name, body)                                                                                       \
  extern "C" __global__ void name(float* x, const float* in, float* out, float* sink, unsigned words, int rounds) { \
    unsigned thread = threadIdx.x + blockIdx.x * blockDim.x, at = thread * 2654435761u;                           \
    float sum = 0;                                                                                                \
    for (int r = 0; r < rounds; ++r) {                                                                            \
      long i = thread + (long)r * blockDim.x * gridDim.x;                                                         \
      NEXT;                                                                                                       \
      unsigned place = PLACE(words);                                                                              \
      body;                                                                                                       \
    }                                                                                                             \
    if (sum == UNLIKELY) sink[0] = sum;                                                                           \
  }
BESIDE(loads_alone, sum += x[place])
BESIDE(loads_beside_loads, sum += x[place] + in[i])
BESIDE(loads_beside_stores, out[i] = x[place])
BESIDE(loads_beside_both, out[i] = x[place] + in[i])
BESIDE(stores_alone, x[place] = r)
BESIDE(stores_beside_loads, x[place] = in[i])
extern "C" {
// All blocks together read n pieces of 16 bytes, `rounds` times; past L1.
__global__ void rounds_together(const char* x, float* sink, long n, int rounds) {
  float sum = 0;
  long step = (long)gridDim.x * blockDim.x;
  for (int r = 0; r < rounds; ++r) {
    long block = (blockIdx.x + 37l * r) % gridDim.x;
    for (long at = block * blockDim.x + threadIdx.x; at < n; at += 4 * step) {
      float v[4][4] = {};
      UNROLLED(4) if (at + i * step < n)
        asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[i][0]), "=f"(v[i][1]), "=f"(v[i][2]), "=f"(v[i][3]) : "l"(x + 16 * (at + i * step)));
      UNROLLED(4) sum += v[i][0] + v[i][1] + v[i][2] + v[i][3];
    }
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
// Each block reads all of them, from a start of its own.
__global__ void rounds_each(const char* x, float* sink, long n, int rounds) {
  float sum = 0;
  long start = n / gridDim.x * blockIdx.x;
  for (int r = 0; r < rounds; ++r)
    for (long at = threadIdx.x; at < n; at += 4l * blockDim.x) {
      float v[4][4] = {};
      UNROLLED(4) {
        long p = start + at + i * blockDim.x;
        if (p >= n) p -= n;
        asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[i][0]), "=f"(v[i][1]), "=f"(v[i][2]), "=f"(v[i][3]) : "l"(x + 16 * p));
      }
      UNROLLED(4) sum += v[i][0] + v[i][1] + v[i][2] + v[i][3];
    }
  if (sum == UNLIKELY) sink[0] = sum;
}
// Every word of x is changed, `rounds` times.
__global__ void changed(float* x, long n, int rounds) {
  for (int r = 0; r < rounds; ++r)
    for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i < n; i += (long)blockDim.x * gridDim.x) x[i] += 1;
}
}
