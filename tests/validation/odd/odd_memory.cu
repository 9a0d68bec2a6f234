// Cache hints, prefetches, volatile and misaligned words, atomics of odd kinds, local arrays whose size is not known.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
// /// warplens
// n = 6007
// [cache_hints]
// grid = "ceil(n / 192)"
// block = 192
// args = ["random:f32[n]", "random:f32x4[n]", "zeros:f32[n]", "zeros:f32x4[n]", "n"]
// [fetched_ahead]
// grid = 9
// block = 128
// args = ["random:i32[n+4096]", "zeros:i64[n]", "n"]
// [atomic_kinds]
// grid = 11
// block = 160
// args = ["random:u32[n]", "zeros:u32[64]", "zeros:u64[64]", "zeros:i32[64]", "n"]
// [narrow_atomics]
// grid = 4
// block = 96
// args = ["random:u32[n](0,4000)", "zeros:f16x2[32]", "zeros:u16[64]", "zeros:f64[16]", "n"]
// [vector_atomics]
// grid = 5
// block = 128
// args = ["random:i32[n](0,9)", "zeros:f32x4[40]", "zeros:f32x2[40]", "n"]
// [shared_atomics]
// grid = 7
// block = 224
// args = ["random:u32[n]", "zeros:u32[7*96]", "zeros:u64[7*16]", "n"]
// [naps]
// grid = 3
// block = 64
// args = ["random:i32[192](0,50)", "zeros:i32[192]"]
// [stacked]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:i32[n]", "zeros:i32[n]", "n"]
// [deep_frames]
// grid = 4
// block = 96
// args = ["random:i32[384](0,9)", "zeros:i64[384]"]
// [constant_tables]
// grid = "ceil(n / 256)"
// block = 256
// args = ["random:u32[n]", "zeros:i32[n]", "n"]
// [turned_views]
// grid = [4, 5]
// block = [24, 8]
// args = ["random:u8[4096](0,255)", "zeros:f64[4*24*5*8]"]
// [by_value]
// grid = 4
// block = 128
// args = ["random:f32[n]", "zeros:f32[n]", "n"]
// ///
extern "C" __global__ void cache_hints(const float* x, const float4* v, float* y, float4* w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = __ldcs(x + i) + __ldlu(x + (i * 3) % n) + __ldcg(x + (i ^ 1) % n) + __ldca(x + i / 2) + __ldcv(x + n - 1 - i);
  float4 q = __ldg(v + i), r = __ldcs(v + (i * 5) % n);
  __stwt(y + i, a);
  q.x += r.y; q.y -= r.x; q.z *= r.w; q.w = a;
  if (i & 4) __stcs(w + i, q); else if (i & 2) __stcg(w + i, q); else __stwb(w + i, q);
}
extern "C" __global__ void fetched_ahead(const int* x, long long* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i + 1024));
    if (i & 1) asm volatile("prefetch.global.L1 [%0];" ::"l"(x + i + 2048));
    asm volatile("prefetchu.L1 [%0];" ::"l"(x + i));
    int a, b, c;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.b32 %0, [%1];" : "=r"(a) : "l"(x + i));
    asm volatile("ld.global.L2::256B.b32 %0, [%1];" : "=r"(b) : "l"(x + i + 64));
    asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(c) : "l"(x + (i * 17) % n));
    long long s = (long long)a * b + c;
    asm volatile("st.global.L1::evict_last.b64 [%0], %1;" ::"l"(y + i), "l"(s) : "memory");
    __threadfence_block();
  }
}
extern "C" __global__ void atomic_kinds(const unsigned* x, unsigned* a, unsigned long long* b, int* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned v = x[i], k = v & 31;
    atomicInc(&a[k], 17);
    if (v & 64) atomicDec(&a[32 + (k & 7)], 23);
    atomicMax(&b[k], (unsigned long long)v << 7);
    atomicAdd(&b[32 + (k & 3)], (unsigned long long)v);
    atomicMin(&c[k], (int)v);
    atomicXor((unsigned*)&c[32 + (k >> 2)], v);
    if (k > 20) atomicOr((unsigned long long*)&b[48 + (k & 1)], 1ull << (v & 63));
    asm volatile("red.relaxed.cta.global.add.u32 [%0], %1;" ::"l"(a + 48), "r"(1) : "memory");
    unsigned old;
    asm volatile("atom.acq_rel.gpu.global.and.b32 %0, [%1], %2;" : "=r"(old) : "l"(a + 50), "r"(v) : "memory");
    if (old) atomicSub(&c[60], 1);
  }
}
extern "C" __global__ void narrow_atomics(const unsigned* x, __half2* h, unsigned short* s, double* d, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned v = x[i];
    if (v % 401 == 0) atomicAdd(&h[v & 31], __floats2half2_rn(1.0f, 2.0f));
    if (v % 997 == 3) atomicAdd((__half*)&h[v & 31], __float2half(1.0f));
    atomicCAS(&s[v & 63], (unsigned short)0, (unsigned short)(1 + (v & 63)));
    atomicAdd(&d[v & 15], (double)(v & 1023));
  }
}
extern "C" __global__ void vector_atomics(const int* x, float4* a, float2* b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int k = x[i];
    atomicAdd(&a[k], make_float4(1.f, 2.f, (float)k, 4.f));
    if (k & 1) { float2 old = atomicAdd(&b[k], make_float2(1.f, 3.f)); if (old.x < 0) b[39].x = 1.f; }
  }
}
extern "C" __global__ void shared_atomics(const unsigned* x, unsigned* y, unsigned long long* z, int n) {
  __shared__ unsigned bins[96];
  __shared__ unsigned long long sums[16];
  if (threadIdx.x < 96) bins[threadIdx.x] = threadIdx.x < 64 ? 0 : ~0u;
  if (threadIdx.x < 16) sums[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned v = x[i];
    atomicAdd(&bins[v & 31], 1);
    atomicMax(&bins[32 + (v & 15)], v >> 8);
    if (v & 256) atomicMin(&bins[64 + (v & 7)], v);
    atomicAnd(&bins[72 + (v & 3)], v | 0xff00ff);
    atomicXor(&bins[80], v);
    atomicInc(&bins[48 + (v & 3)], 100);
    atomicAdd(&sums[v & 7], (unsigned long long)v << 20);
    if ((v & 15) == 5) atomicMax(&sums[8 + (v >> 29)], (unsigned long long)v);
    if ((v & 63) == 9) atomicExch(&bins[90], 7);
  }
  __syncthreads();
  if (threadIdx.x < 96) y[blockIdx.x * 96 + threadIdx.x] = bins[threadIdx.x];
  if (threadIdx.x < 16) z[blockIdx.x * 16 + threadIdx.x] = sums[threadIdx.x];
}
extern "C" __global__ void naps(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  for (int k = 0; k < v % 5; ++k) { __nanosleep(20); v = v * 31 + k; }
  if (v & 1) __nanosleep(40);
  __threadfence(); __threadfence_system();
  y[i] = v;
}
__device__ int fold(const int* v, int n) { int s = 0; for (int k = 0; k < n; ++k) s = s * 31 + v[k]; return s; }
extern "C" __global__ void stacked(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int size = 1 + (x[i] & 15);
  int v[16];
  for (int k = 0; k < size; ++k) v[k] = x[(i + k * 37) % n];
  for (int k = 1; k < size; ++k) {
    int w = v[k], j = k;
    for (; j > 0 && v[j - 1] > w; --j) v[j] = v[j - 1];
    v[j] = w;
  }
  y[i] = fold(v, size);
}
__device__ __noinline__ long long walk(int depth, int seed, const int* above) {
  int frame[24];
  for (int k = 0; k < 24; ++k) frame[k] = seed * (k + 1) ^ (above ? above[(k * 5) % 24] : 0);
  if (depth == 0) return frame[seed % 24];
  long long s = 0;
  for (int k = 0; k < 2; ++k) if ((frame[k] & 3) != 3) s += walk(depth - 1, (frame[k + 2] & 0xff), frame) * (k + 1);
  return s + frame[7];
}
extern "C" __global__ void deep_frames(const int* x, long long* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = walk(x[i] % 6, i, nullptr);
}
__constant__ int table[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
__constant__ struct { short low; signed char sign; double big[5]; int2 pair[7]; } mixed = {-7, -3, {1.5, 2.5, 3.5, -4.5, 5}, {{1, 2}, {3, 4}, {5, 6}}};
extern "C" __global__ void constant_tables(const unsigned* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = x[i];
  int s = table[v & 63] + table[blockIdx.x & 31] + mixed.low * mixed.sign;
  s += (int)mixed.big[v % 5] + mixed.pair[(v >> 8) % 7].y;
  for (int k = 0; k < (int)(v & 3); ++k) s = s * 3 + table[(s + k) & 63];
  y[i] = s;
}
extern "C" __global__ void turned_views(const unsigned char* x, double* y) {
  int i = (blockIdx.y * 8 + threadIdx.y) * 96 + blockIdx.x * 24 + threadIdx.x;
  const short* h = (const short*)(x + 2 * (i % 1000));
  const int* w = (const int*)(x + 4 * (i % 1000));
  const double* d = (const double*)(x + 8 * (i % 500));
  volatile const signed char* c = (const signed char*)x + i % 4000;
  double s = h[1] + w[3] * 0.5 + c[5] + (double)(*(const uint3*)(x + 12 * (i % 300))).y;
  if (!(d[1] < 1e300 && d[1] > -1e300)) s -= 1; else s += d[1] > 0 ? 3 : 2;
  y[i] = s;
}
struct Big { float scale[40]; int order[40]; float bias; };
__device__ Big made(float v) { Big b; for (int k = 0; k < 40; ++k) { b.scale[k] = v + k; b.order[k] = (k * 7) % 40; } b.bias = -v; return b; }
extern "C" __global__ void by_value(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Big b = made(x[i]);
    int k = i % 40;
    for (int j = 0; j < 5; ++j) k = b.order[k];
    y[i] = b.scale[k] * x[i] + b.bias;
  }
}
