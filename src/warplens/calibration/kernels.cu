// Micro-benchmarks: each kernel keeps one part of a GPU busy, or waits for one part alone.  Nothing of the lessons.
#include <cuda_fp16.h>
#define TICKS(body)                                     \
  long long t0 = clock64();                             \
  body;                                                 \
  long long t1 = clock64();                             \
  if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = t1 - t0;

__device__ float all(float v) { return v; }
__device__ float all(float2 v) { return v.x + v.y; }
__device__ float all(float4 v) { return v.x + v.y + v.z + v.w; }

extern "C" {
__global__ void empty() {}

// Arithmetic: rounds x 64 independent (4 chains) or dependent instructions a warp.
#define PIPE(name, type, init, step, use)                                          \
  __global__ void name(long long* ticks, float* sink, int rounds) {                \
    type a = init(0), b = init(1), c = init(2), d = init(3), k = init(4);          \
    TICKS(for (int r = 0; r < rounds; ++r) {                                       \
      _Pragma("unroll") for (int i = 0; i < 16; ++i) { step(a); step(b); step(c); step(d); } \
    })                                                                             \
    if (use(a) + use(b) + use(c) + use(d) == 12345.678f) sink[0] = 1;              \
  }
#define F(i) (float)(threadIdx.x + i)
#define I(i) (unsigned)(threadIdx.x * 7 + i)
#define D(i) (double)(threadIdx.x + i)
#define H(i) __float2half2_rn(threadIdx.x + i)
#define ID(x) (float)(x)
#define HF(x) __low2float(x)
#define FMA_STEP(x) x = fmaf(x, k, 1.5f)
#define IMAD_STEP(x) x = x * k + 17u
#define ALU_STEP(x) x = (x ^ k) & (x >> 3 | 5u)
#define LOP_STEP(x) asm volatile("lop3.b32 %0, %0, %1, 7, 0x1e;" : "+r"(x) : "r"(k))
#define HALF_STEP(x) x = __hfma2(x, k, k)
#define DOUBLE_STEP(x) x = fma(x, k, 1.5)
#define MUFU_STEP(x) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x))
#define CONVERT_STEP(x) x = (unsigned)__float2int_rz(__int2float_rn((int)x))
#define POPC_STEP(x) x = __popc(x) + k
#define SHUFFLE_STEP(x) x = __shfl_xor_sync(~0u, x, 1)
#define VOTE_STEP(x) x = __ballot_sync(~0u, x & 1) + k
PIPE(pipe_fma, float, F, FMA_STEP, ID)
PIPE(pipe_imad, unsigned, I, IMAD_STEP, ID)
PIPE(pipe_lop, unsigned, I, LOP_STEP, ID)
PIPE(pipe_half, __half2, H, HALF_STEP, HF)
PIPE(pipe_double, double, D, DOUBLE_STEP, ID)
PIPE(pipe_mufu, float, F, MUFU_STEP, ID)
PIPE(pipe_convert, unsigned, I, CONVERT_STEP, ID)
PIPE(pipe_popc, unsigned, I, POPC_STEP, ID)
PIPE(pipe_shuffle, unsigned, I, SHUFFLE_STEP, ID)
PIPE(pipe_vote, unsigned, I, VOTE_STEP, ID)

__global__ void chain_mufu(long long* ticks, float* sink, int rounds) {
  float a = F(0);
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int i = 0; i < 32; ++i) MUFU_STEP(a); })
  if (a == 12345.678f) sink[0] = 1;
}
__global__ void chain_shuffle(long long* ticks, float* sink, int rounds) {
  unsigned a = I(0);
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int i = 0; i < 32; ++i) SHUFFLE_STEP(a); })
  if (a == 12345u) sink[0] = 1;
}
// A loop whose body is one addition: what a taken branch costs.
__global__ void loop_branch(long long* ticks, float* sink, int rounds) {
  float a = F(0);
  TICKS(_Pragma("unroll 1") for (int r = 0; r < 64 * rounds; ++r) asm volatile("add.f32 %0, %0, 0f3f800000;" : "+f"(a));)
  if (a == 12345.678f) sink[0] = 1;
}
__global__ void loop_barrier(long long* ticks, float* sink, int rounds) {
  TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {
    _Pragma("unroll") for (int i = 0; i < 16; ++i) __syncthreads();
  })
}

// Chains through memory: p[i] is the index of the next element.
__global__ void chase(long long* ticks, const unsigned* p, unsigned* sink, int rounds, unsigned start) {
  unsigned i = start;
  for (int r = 0; r < 64; ++r) i = p[i];
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = p[i]; })
  if (i == 0xffffffffu) sink[0] = i;
}
__global__ void chase_warm(long long* ticks, const unsigned* p, unsigned* sink, int rounds, unsigned start) {
  unsigned i = start;
  for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = p[i]; }
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = p[i]; })
  if (i == 0xffffffffu) sink[0] = i;
}
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
__global__ void chase_atomic(long long* ticks, unsigned* p, unsigned* sink, int rounds) {
  unsigned i = 0;
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = atomicMax(&p[i], 0u); })
  if (i == 0xffffffffu) sink[0] = i;
}
// Shared memory, as fast as it goes: `step` words between lanes.
#define SHARED_RATE(name, type)                                                            \
  __global__ void name(long long* ticks, float* sink, int rounds, int step) {              \
    extern __shared__ float s[];                                                           \
    const type* q = (const type*)s;                                                        \
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) s[i] = i;                         \
    __syncthreads();                                                                       \
    float sum = 0; int at = (threadIdx.x % 32) * step;                                     \
    TICKS(for (int r = 0; r < rounds; ++r) {                                               \
      _Pragma("unroll") for (int i = 0; i < 16; ++i) { type v = q[at + i * 32]; sum += all(v); } \
    })                                                                                     \
    if (sum == 12345.678f) sink[0] = sum;                                                  \
  }
SHARED_RATE(shared_4, float)
SHARED_RATE(shared_8, float2)
SHARED_RATE(shared_16, float4)
__global__ void shared_store(long long* ticks, float* sink, int rounds, int step) {
  extern __shared__ float s[];
  int at = (threadIdx.x % 32) * step;
  TICKS(for (int r = 0; r < rounds; ++r) {
    _Pragma("unroll") for (int i = 0; i < 16; ++i) ((volatile float*)s)[at + i * 32] = r;
  })
  if (s[threadIdx.x] == 12345.678f) sink[0] = 1;
}
__global__ void shared_add(long long* ticks, unsigned* sink, int rounds, int step) {
  extern __shared__ unsigned u[];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) u[i] = i;
  __syncthreads();
  int at = (threadIdx.x % 32) * step;
  TICKS(for (int r = 0; r < rounds; ++r) {
    _Pragma("unroll") for (int i = 0; i < 16; ++i) atomicAdd(&u[at + i * 32], r + threadIdx.x);
  })
  if (u[threadIdx.x] == 123456789u) sink[0] = 1;
}
}

// Global memory: every thread walks through n elements of `width` words with the stride of the whole grid, `ahead` loads
// at once.
template <int W> struct Words { float v[W]; };
template <> struct __align__(8) Words<2> { float v[2]; };
template <> struct __align__(16) Words<4> { float v[4]; };
template <int W, int U> __device__ void read(const float* x, float* sink, long n) {
  const Words<W>* p = (const Words<W>*)x;
  long step = (long)blockDim.x * gridDim.x, i = threadIdx.x + (long)blockIdx.x * blockDim.x;
  float sum = 0;
  for (; i + (U - 1) * step < n / W; i += U * step) {
    Words<W> a[U];
#pragma unroll
    for (int u = 0; u < U; ++u) a[u] = p[i + u * step];
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int w = 0; w < W; ++w) sum += a[u].v[w];
  }
  if (sum == 12345.678f) sink[0] = sum;
}
template <int W, int U> __device__ void copy(const float* x, float* y, long n) {
  const Words<W>* p = (const Words<W>*)x;
  Words<W>* q = (Words<W>*)y;
  long step = (long)blockDim.x * gridDim.x, i = threadIdx.x + (long)blockIdx.x * blockDim.x;
  for (; i + (U - 1) * step < n / W; i += U * step) {
    Words<W> a[U];
#pragma unroll
    for (int u = 0; u < U; ++u) a[u] = p[i + u * step];
#pragma unroll
    for (int u = 0; u < U; ++u) q[i + u * step] = a[u];
  }
}
extern "C" {
#define READ(W, U) __global__ void read_##W##_##U(const float* x, float* sink, long n) { read<W, U>(x, sink, n); }
#define COPY(W, U) __global__ void copy_##W##_##U(const float* x, float* y, long n) { copy<W, U>(x, y, n); }
READ(1, 1) READ(1, 2) READ(1, 4) READ(1, 8) READ(2, 1) READ(2, 4) READ(4, 1) READ(4, 2) READ(4, 4)
COPY(1, 1) COPY(1, 4) COPY(4, 1) COPY(4, 4)
__global__ void write_1(float* y, long n) {
  long step = (long)blockDim.x * gridDim.x;
  for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i < n; i += step) y[i] = i;
}
__global__ void write_4(float4* y, long n) {
  long step = (long)blockDim.x * gridDim.x;
  for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i < n / 4; i += step) y[i] = make_float4(i, i, i, i);
}
// One word a lane, `stride` words apart: sectors and lines that are used in part.
__global__ void read_strided(const float* x, float* sink, long n, int stride) {
  long threads = (long)blockDim.x * gridDim.x;
  float sum = 0;
  for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i * stride < n; i += threads) sum += x[i * stride];
  if (sum == 12345.678f) sink[0] = sum;
}
// One element a thread and as many blocks as that takes.
__global__ void once_read(const float* x, float* sink, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] == 12345.678f) sink[0] = 1;
}
__global__ void once_write(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i;
}
__global__ void once_scale(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float4 v = x[i]; y[i] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2); }
}
// The same part of memory again and again, from L1 or L2: `span` elements (a power of two), `apart` of them from block to
// block.
__global__ void again(const float* x, float* sink, int span, int apart, int rounds) {
  const float* p = x + (long)blockIdx.x * apart;
  float sum = 0;
  for (int r = 0; r < rounds; ++r)
    for (int i = threadIdx.x; i < span; i += 4 * blockDim.x)
#pragma unroll
      for (int u = 0; u < 4; ++u) sum += p[(i + u * blockDim.x) & (span - 1)];
  if (sum == 12345.678f) sink[0] = sum;
}
__global__ void again_4(const float4* x, float* sink, int span, int apart, int rounds) {
  const float4* p = x + (long)blockIdx.x * apart;
  float sum = 0;
  for (int r = 0; r < rounds; ++r)
    for (int i = threadIdx.x; i < span; i += 4 * blockDim.x)
#pragma unroll
      for (int u = 0; u < 4; ++u) sum += all(p[(i + u * blockDim.x) & (span - 1)]);
  if (sum == 12345.678f) sink[0] = sum;
}
// Atomics: lanes `step` words apart, warps `apart` words.
__global__ void global_add(unsigned* p, int step, int apart, int rounds) {
  unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int r = 0; r < rounds; ++r) atomicAdd(&p[lane * step + warp * apart], r + lane);
}
// Code that is executed once: instructions come from far away.
#define TEN(x) x x x x x x x x x x
#define ADD asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(a) : "f"(k));
__global__ void code_long(long long* ticks, float* sink, float k) {
  float a = F(0);
  TICKS(TEN(TEN(ADD ADD ADD ADD ADD ADD ADD ADD)))
  if (a == 12345.678f) sink[0] = 1;
}
__global__ void code_longer(long long* ticks, float* sink, float k) {
  float a = F(0);
  TICKS(TEN(TEN(TEN(ADD ADD ADD ADD))))
  if (a == 12345.678f) sink[0] = 1;
}
__global__ void spin(long long* ticks, long long cycles) {
  long long t0 = clock64();
  unsigned long long g0, g1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g0));
  while (clock64() - t0 < cycles);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g1));
  ticks[0] = clock64() - t0;
  ticks[1] = (long long)(g1 - g0);
}
__global__ void fill_chain(unsigned* p, unsigned n, unsigned step) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) p[i] = (i + step) % n;
}
__global__ void fill(float* p, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)blockDim.x * gridDim.x) p[i] = (i * 2654435761u >> 8) * 1e-7f;
}
__global__ void sweep(const float4* p, float* sink, long n) {
  float sum = 0;
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)blockDim.x * gridDim.x) sum += p[i].x;
  if (sum == 12345.678f) sink[0] = sum;
}
}
