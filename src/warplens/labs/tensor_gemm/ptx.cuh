// PTX as functions: products of a warp (mma.sync, ldmatrix, cp.async), and on sm_90a mbarriers, copies of boxes (TMA)
// and products of a warpgroup (wgmma).
#pragma once
#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;
typedef unsigned long long u64;
#ifndef __cuda_cuda_h__
struct alignas(64) CUtensorMap { u64 opaque[16]; };
#endif
#define DEVICE static __device__ __forceinline__

DEVICE unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
DEVICE unsigned pack(float low, float high) {  // two floats, rounded to bf16
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

// Products of a warp: d += a b, 16 x 16 by 16 x 8

DEVICE void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
      " {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
DEVICE void ldmatrix(unsigned (&r)[4], const void *row) {  // four matrices of 8 x 8; each lane names a row of one
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
DEVICE void ldmatrix_transposed(unsigned (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
DEVICE void copy_async(void *to, const void *from) {  // 16 bytes, past the registers
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> DEVICE void wait_for_copies() {  // all groups but the last N
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// mbarriers

DEVICE void mbarrier_init(u64 *barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
DEVICE void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void mbarrier_expect(u64 *barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
DEVICE void mbarrier_arrive(u64 *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
DEVICE void mbarrier_arrive(u64 *barrier, int block) {  // at the same place in another block of the cluster
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
      " mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(shared_address(barrier)), "r"(block)
      : "memory");
}
DEVICE void mbarrier_wait(u64 *barrier, int parity) {
  asm volatile(
      "{ .reg .pred over;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra again; }" ::"r"(shared_address(barrier)), "r"(parity)
      : "memory");
}

// Boxes of a matrix: x counts columns, y rows

DEVICE void load_box(void *to, const CUtensorMap &map, int x, int y, u64 *barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared_address(to)), "l"(&map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}
DEVICE void load_box(void *to, const CUtensorMap &map, int x, int y, u64 *barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)), "l"(&map), "r"(x), "r"(y),
      "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}
DEVICE void store_box(const CUtensorMap &map, int x, int y, const void *from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x),
               "r"(y), "r"(shared_address(from))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int N> DEVICE void wait_for_reads() {  // of shared memory, by all stores but the last N
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
DEVICE void wait_for_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
DEVICE void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Blocks, warps, registers

DEVICE int cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
DEVICE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
DEVICE void named_arrive(int name, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory");
}
DEVICE void named_barrier(int name, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}
template <int N> DEVICE void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> DEVICE void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
DEVICE void store_matrices(void *to, unsigned a, unsigned b, unsigned c, unsigned d) {  // four of 8 x 8
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(to)), "r"(a),
               "r"(b), "r"(c), "r"(d)
               : "memory");
}

// Products of a warpgroup

DEVICE u64 descriptor(const void *tile) {  // rows of 128 bytes, swizzled; the next 8 rows 1,024 bytes away
  return (u64)((shared_address(tile) & 0x3FFFF) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
#define D4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(d, i) D4(d, i), D4(d, i + 4), D4(d, i + 8), D4(d, i + 12)
#define D64(d, i) D16(d, i), D16(d, i + 16), D16(d, i + 32), D16(d, i + 48)
#define D128(d, i) D64(d, i), D64(d, i + 64)

// d += a b: 64 rows of a and 16 of b's columns, both in shared memory, K along the rows
DEVICE void wgmma(float (&d)[64], u64 a, u64 b, int accumulate) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0; }"
      : D64(d, 0)
      : "l"(a), "l"(b), "r"(accumulate));
}
DEVICE void wgmma(float (&d)[128], u64 a, u64 b, int accumulate) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, 0, 0; }"
      : D128(d, 0)
      : "l"(a), "l"(b), "r"(accumulate));
}

// d += a b: a in registers, b with N along the rows
DEVICE void wgmma(float (&d)[64], const unsigned (&a)[4], u64 b, int accumulate) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %69, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1, 1; }"
      : D64(d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
}

// Parts that several rungs have in common

DEVICE bf16 *swizzled(bf16 *tile, int row, int chunk) {  // 16 bytes in a tile with rows of 128
  return tile + row * 64 + (chunk ^ row % 8) * 8;
}
DEVICE void multiply_tiles(float (&d)[4][4][4], bf16 *a, bf16 *b, int lane) {  // a warp's 64 x 32 of C, K of 64
#pragma unroll
  for (int k = 0; k < 8; k += 2) {
    unsigned of_a[4][4], of_b[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) ldmatrix(of_a[i], swizzled(a, i * 16 + lane % 16, k + lane / 16));
#pragma unroll
    for (int i = 0; i < 2; ++i) ldmatrix(of_b[i], swizzled(b, i * 16 + lane / 16 * 8 + lane % 8, k + lane / 8 % 2));
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) mma(d[i][j], of_a[i], of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
  }
}
DEVICE void store_fragments(bf16 *c, int n, int row, int column, const float (&d)[4][4][4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      *(unsigned *)(c + (size_t)(row + i * 16) * n + column + j * 8) = pack(d[i][j][0], d[i][j][1]);
      *(unsigned *)(c + (size_t)(row + i * 16 + 8) * n + column + j * 8) = pack(d[i][j][2], d[i][j][3]);
    }
}
DEVICE void store_tile(const CUtensorMap &c, int row, int column, const float (&d)[128], bf16 (&boxes)[2][64 * 64]) {
  // a warpgroup's 64 x 256, 64 columns at a time: two boxes in shared memory take turns
  int t = threadIdx.x % 128, name = 1 + threadIdx.x / 128;
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    bf16 *box = boxes[part % 2];
    if (t == 0) wait_for_reads<1>();
    named_barrier(name, 128);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float *f = d + part * 32 + i * 8;
      store_matrices(swizzled(box, t / 32 * 16 + t % 16, i * 2 + t % 32 / 16), pack(f[0], f[1]), pack(f[2], f[3]),
                     pack(f[4], f[5]), pack(f[6], f[7]));
    }
    fence_async();
    named_barrier(name, 128);
    if (t == 0) store_box(c, column + part * 64, row, box);
  }
}
template <int N> DEVICE void multiply_stage(float (&d)[N], const bf16 *a, const bf16 *b, int accumulate) {  // K of 64
#pragma unroll
  for (int k = 0; k < 4; ++k) wgmma(d, descriptor(a) + 2 * k, descriptor(b) + 2 * k, accumulate + k);
  wgmma_commit();
}
template <int N> DEVICE void store_rows(bf16 *c, int n, int row, int column, const float (&d)[N]) {  // of a warpgroup
  int lane = threadIdx.x % 32;
  c += (size_t)(row + threadIdx.x % 128 / 32 * 16 + lane / 4) * n + column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < N / 4; ++i) {
    *(unsigned *)(c + i * 8) = pack(d[4 * i], d[4 * i + 1]);
    *(unsigned *)(c + 8 * (size_t)n + i * 8) = pack(d[4 * i + 2], d[4 * i + 3]);
  }
}
