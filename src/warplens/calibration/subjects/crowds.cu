// Atomics of many threads on few words.
#define NEXT at = at * 1664525u + 1013904223u
#define PLACE(words) (unsigned)(((unsigned long long)(at ^ at >> 15) * (words)) >> 32)
// Each lane anywhere among `words`, `apart` words from each other.
#define CROWD(name, type, body)                                                                      \
  extern "C" __global__ void name(type* p, unsigned* sink, unsigned words, int apart, int rounds) { \
    unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u, sum = 0;                    \
    for (int r = 0; r < rounds; ++r) {                                                               \
      NEXT;                                                                                          \
      type* q = p + (long)PLACE(words) * apart;                                                      \
      body;                                                                                          \
    }                                                                                                \
    if (sum == 123456789u) sink[0] = sum;                                                            \
  }
CROWD(crowd_add, unsigned, atomicAdd(q, 1u + r))
CROWD(crowd_float, float, atomicAdd(q, 1.0f))
CROWD(crowd_return, unsigned, sum += atomicAdd(q, 1u + r))
CROWD(crowd_wait, unsigned, at += atomicAdd(q, 1u + r) & 1)
CROWD(crowd_long, unsigned long long, atomicAdd(q, 1ull + r))
CROWD(crowd_max, unsigned, atomicMax(q, at))
CROWD(crowd_cas, unsigned, sum += atomicCAS(q, sum, at))
CROWD(crowd_store, unsigned, *(volatile unsigned*)q = r)
CROWD(crowd_gather, unsigned, unsigned v = p[(long)words + PLACE(words)]; NEXT; q = p + PLACE(words); atomicAdd(q, v + r))
CROWD(crowd_two, unsigned, atomicAdd(q, 1u + r); atomicMax(sink + 256 + PLACE(words), at))
CROWD(crowd_kinds, unsigned, atomicMax(q, at); atomicAdd((float*)sink + 256 + PLACE(words), 1.0f))
extern "C" {
// Each warp adds to a whole line, any of `lines`, `apart` words from each other.
__global__ void crowd_lines(unsigned* p, unsigned lines, int apart, int rounds) {
  unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) / 32 * 2654435761u;
  for (int r = 0; r < rounds; ++r) {
    NEXT;
    atomicAdd(p + (long)PLACE(lines) * apart + threadIdx.x % 32, 1u + r);
  }
}
// The lanes of a warp have `words` neighbouring words between them; warps lie `apart` words from each other.
__global__ void crowd_warps(unsigned* p, int words, int apart, int rounds) {
  unsigned warp = (threadIdx.x + blockIdx.x * blockDim.x) / 32;
  for (int r = 0; r < rounds; ++r) atomicAdd(p + (long)warp * apart + threadIdx.x % words, threadIdx.x + r);
}
}
// Shared memory: each lane anywhere among `words`, or where there are none in the pattern lane * step.
#define SHARED_CROWD(name, type, body)                                                                       \
  extern "C" __global__ void name(long long* ticks, unsigned* sink, unsigned words, int step, int rounds) { \
    __shared__ type s[8192];                                                                                 \
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) s[i] = 0;                                           \
    __syncthreads();                                                                                         \
    unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u, sum = 0;                            \
    TICKS(for (int r = 0; r < rounds; ++r) {                                                                 \
      NEXT;                                                                                                  \
      type* q = s + (words > 0 ? PLACE(words) : (threadIdx.x % 32 * step + r) % 8192);                        \
      body;                                                                                                  \
    } __syncthreads();)                                                                                      \
    if (sum == 123456789u || s[threadIdx.x] == 12345678) sink[0] = sum;                                      \
  }
SHARED_CROWD(shared_count, unsigned, atomicAdd(q, 1u))
SHARED_CROWD(shared_add, unsigned, atomicAdd(q, 2u + r))
SHARED_CROWD(shared_return, unsigned, sum += atomicAdd(q, 2u + r))
SHARED_CROWD(shared_float, float, atomicAdd(q, 1.0f))
SHARED_CROWD(shared_max, unsigned, atomicMax(q, at))
SHARED_CROWD(shared_cas, unsigned, sum += atomicCAS(q, sum, at))
