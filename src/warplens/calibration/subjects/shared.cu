// Shared memory: as fast as it goes, and one access after the other.  `step`: words from lane to lane.
#define RATE(name, count, load)                                                             \
  extern "C" __global__ void __launch_bounds__(1024) name(long long* ticks, float* sink, int rounds, int step) { \
    extern __shared__ float s[];                                                            \
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) s[i] = i;                          \
    __syncthreads();                                                                        \
    unsigned at = (unsigned)__cvta_generic_to_shared(s) + (threadIdx.x % 32) * step * 4;    \
    float v[count];                                                                         \
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) { load; } })                      \
    float sum = 0;                                                                          \
    for (int i = 0; i < count; ++i) sum += v[i];                                            \
    if (sum == UNLIKELY) sink[0] = sum;                                                     \
  }
RATE(shared_4, 1, asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(v[0]) : "r"(at + i * 128)))
RATE(shared_8, 2, asm volatile("ld.volatile.shared.v2.f32 {%0,%1}, [%2];" : "=f"(v[0]), "=f"(v[1]) : "r"(at + i * 128)))
RATE(shared_16, 4, asm volatile("ld.volatile.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(at + i * 128)))
RATE(shared_store, 1, v[0] = r; asm volatile("st.volatile.shared.f32 [%0], %1;" ::"r"(at + i * 128), "f"(v[0])))
RATE(shared_store_16, 4, v[0] = v[1] = v[2] = v[3] = r; asm volatile("st.volatile.shared.v4.f32 [%0], {%1,%1,%1,%1};" ::"r"(at + i * 128), "f"(v[0])))
RATE(shared_add, 1, v[0] = r; asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at + i * 128), "r"(r)))
RATE(shared_add_float, 1, v[0] = r; asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(at + i * 128), "f"(v[0])))
extern "C" {
// Addresses that follow from each other, with nothing between: s[i] holds the address of the next.
#define SHARED_CHAIN(name, load)                                                                          \
  __global__ void name(long long* ticks, unsigned* sink, int rounds, unsigned step) {                    \
    __shared__ __align__(16) unsigned s[4096];                                                           \
    unsigned base = (unsigned)__cvta_generic_to_shared(s);                                               \
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = base + 4 * ((i + step) % 4096);          \
    __syncthreads();                                                                                     \
    unsigned at = base + 16 * (threadIdx.x % 32), rest[3] = {at, at, at};                                              \
    TICKS(for (int r = 0; r < rounds; ++r) { UNROLLED(16) load; })                                       \
    if (at == 0xffffffffu) sink[0] = rest[0] + rest[1] + rest[2];                                        \
  }
SHARED_CHAIN(chain_shared_4, asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(at)))
SHARED_CHAIN(chain_shared_8, asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%0];" : "+r"(at), "=r"(rest[0])))
SHARED_CHAIN(chain_shared_16, asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%0];" : "+r"(at), "=r"(rest[0]), "=r"(rest[1]), "=r"(rest[2])))
SHARED_CHAIN(chain_shared_atomic, asm volatile("atom.shared.max.u32 %0, [%0], 0;" : "+r"(at)))
__global__ void chase_shared(long long* ticks, unsigned* sink, int rounds, unsigned step) {
  __shared__ unsigned s[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = (i + step) % 1024;
  __syncthreads();
  unsigned i = threadIdx.x;
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = s[i]; })
  if (i == 0xffffffffu) sink[0] = i;
}
__global__ void chase_shared_atomic(long long* ticks, unsigned* sink, int rounds) {
  __shared__ unsigned s[64];
  if (threadIdx.x < 64) s[threadIdx.x] = 0;
  __syncthreads();
  unsigned i = threadIdx.x % 32;
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = atomicMax(&s[i & 63], 0u) + threadIdx.x % 32; })
  if (i == 0xffffffffu) sink[0] = i;
}
}
