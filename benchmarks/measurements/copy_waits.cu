// Kernels of copy_waits.py: asynchronous copies that meet in banks of shared memory, bulk stores that are waited for, and
// locks that blocks take in turn.
typedef long long i64;
extern __shared__ __align__(1024) unsigned char memory[];

__device__ __forceinline__ i64 now() {
  i64 t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

// Rounds of 16 copies of BYTES a lane, then a wait for them. Lane n reads `from` n bytes behind `x`, and writes
// (`to` n + n / `row` * `skip`) bytes behind its warp's part of shared memory; `far`: bytes between the 16 copies' sources.
template <int BYTES, bool CACHED> __device__ void copied(const char *x, int from, int to, int row, int skip, int far, int rounds, i64 *cycles) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned own = (unsigned)__cvta_generic_to_shared(memory) + warp * 8192 + (lane * to + lane / row * skip) % 8192;
  const char *at = x + (blockIdx.x * 64 + warp) * (i64)8192 + lane * from;
  __syncthreads();
  i64 began = now();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 16; ++k)
      if (CACHED) asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(own), "l"(at + k * far), "n"(BYTES) : "memory");
      else asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(own), "l"(at + k * far), "n"(BYTES) : "memory");
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
  }
  i64 took = now() - began;
  if (lane == 0) cycles[blockIdx.x * (blockDim.x / 32) + warp] = took;
}
#define COPIED(name, bytes, cached) \
  extern "C" __global__ void name(const char *x, int from, int to, int row, int skip, int far, int rounds, i64 *cycles) { copied<bytes, cached>(x, from, to, row, skip, far, rounds, cycles); }
COPIED(copied4, 4, true)
COPIED(copied8, 8, true)
COPIED(copied16, 16, true)
COPIED(passed16, 16, false)

// One thread stores `size` bytes and waits until they have been read (whole: until they are written), then does `pause`
// dependent multiply-adds; each time to another place. cycles: of the stores and waits alone
extern "C" __global__ void stored(char *to, int size, int whole, int pause, int rounds, float *sink, i64 *cycles) {
  unsigned own = (unsigned)__cvta_generic_to_shared(memory);
  float a = size;
  i64 took = 0;
  if (threadIdx.x == 0)
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
      char *at = to + (r * (i64)gridDim.x + blockIdx.x) * size;
      i64 began = now();
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(at), "r"(own), "r"(size) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      if (whole) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      else asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      took += now() - began;
#pragma unroll 1
      for (int k = 0; k < pause; ++k) a = a * 0.999f + 1.0f;
    }
  if (a == 12345.678f) sink[0] = a;
  if (threadIdx.x == 0) cycles[blockIdx.x] = took / rounds;
}

// Each block takes one of `locks` words, reads a word `steps` times, each where the last one says, stores, and gives the
// lock back; `fences`: with fences, as compilers of locks put them. cycles: of the block, from the first block's start
extern "C" __global__ void locked(int *words, int locks, int steps, int fences, volatile int *chain, i64 *cycles) {
  if (threadIdx.x) return;
  i64 began, ended;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began)::"memory");
  int *mine = words + blockIdx.x % locks * 32;
  if (fences) __threadfence();
  while (atomicCAS(mine, 0, 1) != 0)
    if (fences) __threadfence();
  int at = 0;
  for (int k = 0; k < steps; ++k) at = chain[(blockIdx.x % locks) * 64 + at];
  chain[(blockIdx.x % locks) * 64 + 32] = at;
  if (fences) __threadfence();
  atomicExch(mine, 0);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ended)::"memory");
  cycles[2 * blockIdx.x] = began, cycles[2 * blockIdx.x + 1] = ended;
}
