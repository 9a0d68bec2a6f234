// Constant memory: how large its caches are, what a miss costs, and what constant loads share with other instructions.
__constant__ unsigned words[16384];  // zeros
#define FACTOR(i) __uint_as_float(words[(i) * 16])
extern "C" {
// One place after the other, `step` words apart, round and round; all of them have been read once if `known`.
__global__ void constant_walk(long long* ticks, unsigned* sink, int count, int known, int step, int mask) {
  unsigned at = 0;
  if (known) for (int r = 0; r <= mask; r += step) at = (at + words[at] + step) & mask;
  TICKS(_Pragma("unroll 4") for (int r = 0; r < count; ++r) at = (at + words[at] + step) & mask;)
  if (at == 12345678) sink[0] = at;
}
// Lanes at places anywhere in mask + 1 words, `groups` different ones in a warp; one load after the other, or four at once.
#define SOMEWHERE(x, salt) (((x) + (salt)) * 2654435761u >> 9 & mask)
#define ANYWHERE(name, at_once)                                                                                      \
  __global__ void name(long long* ticks, unsigned* sink, int rounds, int groups, int mask) {                        \
    unsigned at = threadIdx.x % groups * 977 + threadIdx.x / 32 * 77731, sum = 0;                                   \
    for (int r = 0; r < 16; ++r) at += 1 + words[SOMEWHERE(at, 0)];                                                 \
    TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {                                                    \
      UNROLLED(4) {                                                                                                  \
        unsigned v[at_once];                                                                                         \
        _Pragma("unroll") for (int k = 0; k < at_once; ++k) v[k] = words[SOMEWHERE(at, k * 31)];                    \
        _Pragma("unroll") for (int k = 0; k < at_once; ++k) sum += v[k];                                            \
        at += 1 + sum;                                                                                               \
      }                                                                                                              \
    })                                                                                                               \
    if (sum == 12345678) sink[0] = sum;                                                                              \
  }
ANYWHERE(constant_chain, 1)
ANYWHERE(constant_together, 4)
// Multiply-adds with a source in constant memory, each of another 64 bytes: so many, in a loop.
#define MULTIPLY(i) a = fmaf(a, FACTOR(4 * (i)), k); b = fmaf(b, FACTOR(4 * (i) + 1), k); \
  c = fmaf(c, FACTOR(4 * (i) + 2), k); d = fmaf(d, FACTOR(4 * (i) + 3), k);
#define OPERANDS(n)                                                                                  \
  __global__ void operands_##n(long long* ticks, float* sink, int rounds, float k) {                        \
    float a = F(0), b = F(1), c = F(2), d = F(3);                                                    \
    long long t0 = 0;                                                                                \
    _Pragma("unroll 1") for (int r = -1; r < rounds; ++r) {                                         \
      if (r == 0) t0 = clock64();                                                                    \
      UNROLLED(n / 4) { MULTIPLY(i) }                                                                \
    }                                                                                                \
    if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = clock64() - t0; \
    if (a + b + c + d == UNLIKELY) sink[0] = 1;                                                      \
  }
OPERANDS(16)
OPERANDS(24)
OPERANDS(32)
OPERANDS(40)
OPERANDS(64)
OPERANDS(128)
OPERANDS(256)
OPERANDS(512)
// Constant loads and others in turn: 16 of each in a round, or 16 of one.  `zero` keeps addresses from being uniform.
#define LDC(i) asm volatile("ld.const.u32 %0, [%1 + " #i "];" : "=r"(v) : "l"(place)); sum ^= v;
#define LDG(i) asm volatile("ld.global.u32 %0, [%1 + " #i "];" : "=r"(v) : "l"(near)); sum ^= v;
#define LDS(i) asm volatile("ld.volatile.shared.u32 %0, [%1 + " #i "];" : "=r"(v) : "r"(at)); sum ^= v;
#define SHFL(i) v = __shfl_xor_sync(~0u, sum, i / 4 + 1); sum2 ^= v;
#define MUFU(i) asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(y)); y += 1; z = fminf(z, x);
#define NOTHING(i)
#define PAIR(one, other) one(0) other(0) one(4) other(4) one(8) other(8) one(12) other(12) one(16) other(16)           \
  one(20) other(20) one(24) other(24) one(28) other(28) one(32) other(32) one(36) other(36) one(40) other(40)       \
  one(44) other(44) one(48) other(48) one(52) other(52) one(56) other(56) one(60) other(60)
#define TURNS(name, one, other)                                                                                 \
  __global__ void __launch_bounds__(1024) turns_##name(long long* ticks, const char* x0, unsigned* sink,       \
                                                       int rounds, int off, int zero) {                        \
    __shared__ unsigned s[1024 + 64];                                                                           \
    s[threadIdx.x] = 0;                                                                                         \
    __syncthreads();                                                                                            \
    unsigned v = 0, sum = threadIdx.x, sum2 = 0;                                                                \
    float x = 0, y = F(0), z = 0;                                                                               \
    size_t table;                                                                                               \
    asm("cvta.to.const.u64 %0, %1;" : "=l"(table) : "l"(words));                                                \
    long long t0 = 0;                                                                                           \
    _Pragma("unroll 1") for (int r = -1; r < rounds; ++r) {                                                    \
      if (r == 0) t0 = clock64();                                                                               \
      unsigned lane = threadIdx.x % 32, turn = ((threadIdx.x & zero) + (r & 1) * 64) + off;                     \
      size_t place = table + turn;                                                                              \
      const char* near = x0 + turn + 4 * lane;                                                                  \
      unsigned at = (unsigned)__cvta_generic_to_shared(s) + turn + 4 * lane;                                    \
      PAIR(one, other)                                                                                          \
    }                                                                                                           \
    if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = clock64() - t0;            \
    if (sum + sum2 + z == 12345678) sink[0] = v + place_of(near0(x0), table, x);                                \
  }
__device__ unsigned near0(const char* p) { return (unsigned)(size_t)p; }
__device__ unsigned place_of(unsigned a, size_t b, float x) { return a + (unsigned)b + (unsigned)x; }
TURNS(ldc, LDC, NOTHING)
TURNS(ldg, LDG, NOTHING)
TURNS(lds, LDS, NOTHING)
TURNS(shfl, SHFL, NOTHING)
TURNS(mufu, MUFU, NOTHING)
TURNS(ldc_ldg, LDC, LDG)
TURNS(ldc_lds, LDC, LDS)
TURNS(ldc_shfl, LDC, SHFL)
TURNS(ldc_mufu, LDC, MUFU)
TURNS(ldg_lds, LDG, LDS)
TURNS(ldg_mufu, LDG, MUFU)
TURNS(ldg_shfl, LDG, SHFL)
}
