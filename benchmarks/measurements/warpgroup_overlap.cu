// Kernels of warpgroup_overlap.py: what a warpgroup's products leave to the other instructions of an SM. One block; times
// are cycles of clock64, of the first thread of each warpgroup.
#include "../../src/warplens/labs/attention/parts.cuh"
#include "warpgroup_clock.cuh"

DEVICE void keep(float *sink, const float (&d)[64]) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) sum += d[i];
  sink[threadIdx.x] = sum;
}

// N products of 64x128x16 with A in registers: cycles until they are issued, and until they are done.
template <int N> DEVICE void issued(float *sink, long long *cycles) {
  float d[64];
  unsigned a[4] = {threadIdx.x, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 64; ++i) d[i] = 0;
  __syncthreads();
  long long start = now();
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < N; ++i) wgmma(d, a, descriptor_n((bf16 *)memory), 1);
  wgmma_commit();
  long long after = now();
  wgmma_wait<0>();
  long long over = now();
  keep(sink, d);
  if (threadIdx.x % 128 == 0) cycles[2 * warpgroup()] = after - start, cycles[2 * warpgroup() + 1] = over - start;
}
extern "C" __global__ void registers1(float *sink, long long *cycles) { issued<1>(sink, cycles); }
extern "C" __global__ void registers2(float *sink, long long *cycles) { issued<2>(sink, cycles); }
extern "C" __global__ void registers4(float *sink, long long *cycles) { issued<4>(sink, cycles); }
extern "C" __global__ void registers8(float *sink, long long *cycles) { issued<8>(sink, cycles); }
extern "C" __global__ void registers16(float *sink, long long *cycles) { issued<16>(sink, cycles); }

// Eight products for scores and eight for sums, as attention issues them: cycles until the first eight are issued, all,
// the first eight are done, all.
extern "C" __global__ void two_groups(float *sink, long long *cycles) {
  float score[64], out[64];
  unsigned p[8][4];
#pragma unroll
  for (int i = 0; i < 64; ++i) score[i] = out[i] = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) p[i / 4][i % 4] = threadIdx.x + i;
  __syncthreads();
  long long start = now();
  wgmma_fence();
  wgmma_scores(score, (bf16 *)memory, (bf16 *)memory);
  long long first = now();
  wgmma_sums(out, p, (bf16 *)memory, 1);
  long long all = now();
  wgmma_wait<1>();
  long long scores = now();
  wgmma_wait<0>();
  long long sums = now();
#pragma unroll
  for (int i = 0; i < 64; ++i) out[i] += score[i];
  keep(sink, out);
  if (threadIdx.x % 128 == 0) {
    long long *to = cycles + 4 * warpgroup();
    to[0] = first - start, to[1] = all - start, to[2] = scores - start, to[3] = sums - start;
  }
}

// The first warpgroup multiplies, `groups` times eight products, with A in shared memory or in registers; the second does
// `rounds` of 64 independent instructions a warp. cycles: of both.
enum What { MUFU, FFMA, FADD, FMNMX, PACK, IADD, SHUFFLE, SOFTMAX, WHATS };
template <int W> DEVICE void instructions(float (&x)[64], Rows &rows, unsigned (&p)[8][4]) {
  if (W == SOFTMAX) {
    softmax(x, rows, 0.1275f);
    to_operand(p, x);
#pragma unroll
    for (int i = 0; i < 64; ++i) x[i] = __uint_as_float(__float_as_uint(x[i]) + p[i / 8][i % 4]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    int k = i % 16;
    if (W == MUFU) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[k]));
    if (W == FFMA) asm volatile("fma.rn.f32 %0, %0, %1, %0;" : "+f"(x[k]) : "f"(x[16]));
    if (W == FADD) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x[k]) : "f"(x[16]));
    if (W == FMNMX) asm volatile("max.f32 %0, %0, %1;" : "+f"(x[k]) : "f"(x[16]));
    if (W == PACK) {
      unsigned both;
      asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(x[k]), "f"(x[16]));
      x[k] = __uint_as_float(both);
    }
    if (W == IADD) asm volatile("{ .reg .b32 t; mov.b32 t, %0; add.u32 t, t, %1; mov.b32 %0, t; }" : "+f"(x[k]) : "r"(p[0][0]));
    if (W == SHUFFLE) x[k] = __shfl_xor_sync(~0u, x[k], 1);
  }
}
DEVICE void multiply(int in_registers, int groups, float *sink) {
  float d[64];
  unsigned p[8][4];
#pragma unroll
  for (int i = 0; i < 64; ++i) d[i] = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) p[i / 4][i % 4] = threadIdx.x + i;
  if (in_registers)
#pragma unroll 1
    for (int k = 0; k < groups; ++k) {
      wgmma_fence();
      wgmma_sums(d, p, (bf16 *)memory, 1);
      wgmma_wait<0>();
    }
  else
#pragma unroll 1
    for (int k = 0; k < groups; ++k) {
      wgmma_fence();
      wgmma_scores(d, (bf16 *)memory, (bf16 *)memory);
      wgmma_wait<0>();
    }
  keep(sink, d);
}
template <int W> DEVICE void beside(int in_registers, int groups, int rounds, float *sink, long long *cycles) {
  __syncthreads();
  long long start = now();
  if (warpgroup() == 0) {
    multiply(in_registers, groups, sink);
  } else {
    float x[64];
    unsigned p[8][4];
    Rows rows;
#pragma unroll
    for (int i = 0; i < 64; ++i) x[i] = threadIdx.x * 0.001f;
    p[0][0] = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) instructions<W>(x, rows, p);
    keep(sink, x);
  }
  long long over = now();
  if (threadIdx.x % 128 == 0) cycles[warpgroup()] = over - start;
}
#define BESIDE(name, W) extern "C" __global__ void __launch_bounds__(384, 1) name(int in_registers, int groups, int rounds, float *sink, long long *cycles) { beside<W>(in_registers, groups, rounds, sink, cycles); }
BESIDE(beside_mufu, MUFU)
BESIDE(beside_ffma, FFMA)
BESIDE(beside_fadd, FADD)
BESIDE(beside_fmnmx, FMNMX)
BESIDE(beside_pack, PACK)
BESIDE(beside_iadd, IADD)
BESIDE(beside_shuffle, SHUFFLE)
BESIDE(beside_softmax, SOFTMAX)

// Two warpgroups hand a turn to each other through named barriers.
extern "C" __global__ void __launch_bounds__(256) turns(int rounds, long long *cycles) {
  int group = warpgroup();
  long long start = now();
  if (group == 1) named_arrive(1, 256);
  for (int i = 0; i < rounds; ++i) {
    named_barrier(1 + group, 256);
    if (group == 0 || i < rounds - 1) named_arrive(2 - group, 256);
  }
  if (threadIdx.x % 128 == 0) cycles[group] = now() - start;
}

// The clock while all SMs multiply: `groups` times 16 products of 64x128x16 by each of two warpgroups, then a pause of so
// many dependent multiply-adds. cycles: of each block, then its nanoseconds. noise: what the factors are made of; 0: zeros
extern "C" __global__ void __launch_bounds__(256, 1) clocked(int groups, int pause, int noise, float *sink, long long *cycles) {
  unsigned word = threadIdx.x * 2654435761u + blockIdx.x;
  for (int i = threadIdx.x; i < 64 << 10 >> 2; i += 256) {
    word = word * 1664525 + 1013904223;
    // a pair of bf16 of either sign from 2^-8 to 2
    ((unsigned *)memory)[i] = noise ? (word & 0x87ff87ff) + 0x38003800 : 0;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float d[64], x = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 64; ++i) d[i] = 0;
  long long start = now(), from, to;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from)::"memory");
#pragma unroll 1
  for (int k = 0; k < groups; ++k) {
    wgmma_fence();
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < 8; ++i)
        wgmma(d, descriptor(memory + half * 16384) + i / 4 * 512 + i % 4 * 2, descriptor(memory + 32768) + i / 4 * 1024 + i % 4 * 2, 1);
    wgmma_commit();
    wgmma_wait<0>();
#pragma unroll 1
    for (int i = 0; i < pause; ++i) x = x * 0.999f + 1.0f;
  }
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to)::"memory");
  long long over = now();
  d[0] += x;
  keep(sink, d);
  if (threadIdx.x == 0) cycles[blockIdx.x] = over - start, cycles[gridDim.x + blockIdx.x] = to - from;
}

// Products of other shapes: cycles until 16 are issued, and until they are done.
#define SHAPE(N, LIST) \
  extern "C" __global__ void columns##N(float *sink, long long *cycles) { \
    float d[N / 2]; \
    for (int i = 0; i < N / 2; ++i) d[i] = 0; \
    u64 at = descriptor(memory); \
    __syncthreads(); \
    long long start = now(); \
    wgmma_fence(); \
    _Pragma("unroll") for (int i = 0; i < 16; ++i) LIST; \
    wgmma_commit(); \
    long long after = now(); \
    wgmma_wait<0>(); \
    long long over = now(); \
    float sum = 0; \
    for (int i = 0; i < N / 2; ++i) sum += d[i]; \
    sink[threadIdx.x] = sum; \
    if (threadIdx.x % 128 == 0) cycles[2 * warpgroup()] = after - start, cycles[2 * warpgroup() + 1] = over - start; \
  }
SHAPE(256, wgmma(d, at, at, 1))
SHAPE(32, asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %16, 1, 1, 1, 0, 0;" : D16(d, 0) : "l"(at)))
