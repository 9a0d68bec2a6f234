// Kernels of bulk_copies.py. Times are cycles of clock64, one number a block.
#include "../../src/warplens/labs/tensor_gemm/ptx.cuh"

extern __shared__ __align__(1024) unsigned char memory[];
const int PLACE = 200 << 10;  // barriers, behind the copied data

DEVICE long long now() {
  long long t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
DEVICE void load_row(void *to, const void *from, int bytes, u64 *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

// One thread keeps `ahead` copies of `bytes` in flight. Copy k of a block reads place (block / sharers + k * step) % places
// of the matrix: boxes of rows of 128 bytes, or rows of bytes. `ahead` and `places` are powers of two. Alone: each copy
// is timed by itself.
extern "C" __global__ void copies(const __grid_constant__ CUtensorMap map, const unsigned char *from, int boxes, int bytes,
                                  int ahead, int number, int step, int places, int alone, int sharers,
                                  long long *cycles) {
  u64 *full = (u64 *)(memory + PLACE);
  if (threadIdx.x) return;
  for (int i = 0; i < ahead; ++i) mbarrier_init(full + i, 1);
  fence_mbarrier_init();
  int mask = ahead - 1, shift = __popc(mask), rows = bytes / 128, first = blockIdx.x / sharers;
  auto fetch = [&](int k) {
    u64 *barrier = full + (k & mask);
    void *to = memory + (k & mask) * bytes;
    long long place = (first + k * step) & places - 1;
    mbarrier_expect(barrier, bytes);
    if (boxes) load_box(to, map, 0, place * rows, barrier);
    else load_row(to, from + place * bytes, bytes, barrier);
  };
  if (alone) {
    long long sum = 0;
    for (int k = 0; k < number; ++k) {
      long long before = now();
      fetch(k);
      mbarrier_wait(full, k & 1);
      sum += now() - before;
    }
    cycles[blockIdx.x] = sum;
    return;
  }
  long long start = now();
  for (int k = 0; k < min(ahead, number); ++k) fetch(k);
  for (int k = 0; k < number; ++k) {
    mbarrier_wait(full + (k & mask), k >> shift & 1);
    if (k + ahead < number) fetch(k + ahead);
  }
  cycles[blockIdx.x] = now() - start;
}

// Blocks of a cluster fetch their part of each box for all of them. `bytes` that each block gets.
template <int N> DEVICE void multicast(const CUtensorMap &map, int bytes, int ahead, int number, int step, int places,
                                       long long *cycles) {
  u64 *full = (u64 *)(memory + PLACE), *empty = full + 64;
  int rank = cluster_rank(), cluster = blockIdx.x / N, part = bytes / N, mask = ahead - 1, shift = __popc(mask);
  if (threadIdx.x == 0) {
    for (int i = 0; i < ahead; ++i) mbarrier_init(full + i, 1), mbarrier_init(empty + i, N);
    fence_mbarrier_init();
  }
  cluster_sync();
  if (threadIdx.x == 0) {
    int rows = part / 128;
    auto fetch = [&](int k) {
      int stage = k & mask;
      mbarrier_wait(empty + stage, k >> shift & 1 ^ 1);
      mbarrier_expect(full + stage, bytes);
      long long place = (cluster + k * step & places - 1) * N + rank;
      load_box(memory + stage * bytes + rank * part, map, 0, place * rows, full + stage, (1 << N) - 1);
    };
    long long start = now();
    for (int k = 0; k < min(ahead, number); ++k) fetch(k);
    for (int k = 0; k < number; ++k) {
      mbarrier_wait(full + (k & mask), k >> shift & 1);
      for (int other = 0; other < N; ++other) mbarrier_arrive(empty + (k & mask), other);
      if (k + ahead < number) fetch(k + ahead);
    }
    cycles[blockIdx.x] = now() - start;
  }
  cluster_sync();
}
extern "C" __global__ void __cluster_dims__(2) multicast2(const __grid_constant__ CUtensorMap map, int bytes, int ahead, int number, int step, int places, long long *cycles) {
  multicast<2>(map, bytes, ahead, number, step, places, cycles);
}
extern "C" __global__ void __cluster_dims__(4) multicast4(const __grid_constant__ CUtensorMap map, int bytes, int ahead, int number, int step, int places, long long *cycles) {
  multicast<4>(map, bytes, ahead, number, step, places, cycles);
}

// Boxes from shared memory to global memory.
extern "C" __global__ void stores(const __grid_constant__ CUtensorMap map, int bytes, int number, int step, int places, long long *cycles) {
  if (threadIdx.x) return;
  int rows = bytes / 128;
  long long start = now();
  for (int k = 0; k < number; ++k) {
    store_box(map, 0, (blockIdx.x + k * step & places - 1) * rows, memory + k % 4 * bytes);
    wait_for_reads<3>();
  }
  wait_for_stores();
  cycles[blockIdx.x] = now() - start;
}

// Cycles of single operations, by 256 of them: 0 try_wait of a phase that is over, 1 arrive, 2 arrive and wait by turns,
// 3 two warps that wake each other, 4 arrive at the other block of the cluster and wait until it does
extern "C" __global__ void barriers(int what, long long *cycles) {
  u64 *a = (u64 *)memory, *b = a + 1;
  if (threadIdx.x == 0) mbarrier_init(a, 1), mbarrier_init(b, 1), fence_mbarrier_init();
  __syncthreads();
  int warp = threadIdx.x / 32;
  if (threadIdx.x % 32) return;
  long long start = now();
  if (what == 0 && warp == 0) for (int i = 0; i < 256; ++i) mbarrier_wait(a, 1);
  if (what == 1 && warp == 0) for (int i = 0; i < 256; ++i) mbarrier_arrive(a);
  if (what == 2 && warp == 0) for (int i = 0; i < 256; ++i) mbarrier_arrive(a), mbarrier_wait(a, i & 1);
  if (what == 3) for (int i = 0; i < 256; ++i) {
    if (warp == 0) mbarrier_arrive(a), mbarrier_wait(b, i & 1);
    else mbarrier_wait(a, i & 1), mbarrier_arrive(b);
  }
  if (warp == 0) cycles[blockIdx.x] = now() - start;
}
extern "C" __global__ void __cluster_dims__(2) far_barriers(int what, long long *cycles) {
  u64 *a = (u64 *)memory;
  if (threadIdx.x == 0) mbarrier_init(a, 1), fence_mbarrier_init();
  cluster_sync();
  if (threadIdx.x == 0) {
    long long start = now();
    int rank = cluster_rank();
    for (int i = 0; i < 256; ++i) {
      if (rank == 0) mbarrier_arrive(a, 1), mbarrier_wait(a, i & 1);
      else mbarrier_wait(a, i & 1), mbarrier_arrive(a, 0);
    }
    cycles[blockIdx.x] = now() - start;
  }
  cluster_sync();
}

// A warpgroup gives registers away and takes them again.
extern "C" __global__ void __launch_bounds__(384, 1) registers(long long *cycles) {
  int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (group == 0) {
    long long start = now();
    fewer_registers<40>();
    long long middle = now();
    more_registers<168>();
    long long end = now();
    if (threadIdx.x == 0) cycles[blockIdx.x] = middle - start, cycles[gridDim.x + blockIdx.x] = end - middle;
  }
}

// Two warpgroups multiply 64 x 256 x 16, 4 a group, without looking at the data, while a third fetches boxes of 16 KB.
extern "C" __global__ void __launch_bounds__(384) beside(const __grid_constant__ CUtensorMap map, int groups, int ahead, int step, int places, float *sink, long long *cycles) {
  u64 *full = (u64 *)(memory + PLACE);
  volatile int *over = (volatile int *)(full + 64);
  int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (threadIdx.x == 0) {
    *over = 0;
    for (int i = 0; i < max(ahead, 1); ++i) mbarrier_init(full + i, 1);
    mbarrier_init(full + 63, 1);  // whose phase before the first is over
    fence_mbarrier_init();
  }
  __syncthreads();
  if (group == 2) {
    fewer_registers<40>();
    if (threadIdx.x == 256 && ahead) {
      auto fetch = [&](int k) {
        mbarrier_expect(full + k % ahead, 16384);
        load_box(memory + 49152 + k % ahead * 16384, map, 0, (blockIdx.x + k * step & places - 1) * 128, full + k % ahead);
      };
      int k = 0;
      for (; k < ahead; ++k) fetch(k);
      for (; !*over; ++k) mbarrier_wait(full + k % ahead, k / ahead - 1 & 1), fetch(k);
      for (int last = k; k < last + ahead; ++k) mbarrier_wait(full + k % ahead, k / ahead - 1 & 1);
      cycles[gridDim.x + blockIdx.x] = k - ahead;
    }
  } else {
    more_registers<232>();
    float d[128];
    long long start = now();
    for (int i = 0; i < groups; ++i) {
      mbarrier_wait(full + 63, 1);
      wgmma_fence();
      multiply_stage(d, (bf16 *)memory + group * 64 * 64, (bf16 *)memory + 128 * 64, i);
      wgmma_wait<1>();
    }
    wgmma_wait<0>();
    long long end = now();
    if (threadIdx.x == 0) *over = 1, cycles[blockIdx.x] = end - start;
    for (int i = 0; i < 128; ++i) sink[threadIdx.x * 128 + i] = d[i];
  }
}

// How many products a warp may have issued before it waits for the tensor pipe: cycles until N of them are issued, and
// until they are done, of the first warpgroup.
template <int N> DEVICE void issued(float *sink, long long *cycles) {
  bf16 *tile = (bf16 *)memory;
  float d[64], sum = 0;
  for (int i = 0; i < 64; ++i) d[i] = 0;
  __syncthreads();
  long long start = now();
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < N; ++i) wgmma(d, descriptor(tile), descriptor(tile + 64 * 64), 1);
  wgmma_commit();
  long long after = now();
  wgmma_wait<0>();
  long long over = now();
  for (int i = 0; i < 64; ++i) sum += d[i];
  sink[threadIdx.x] = sum;
  if (threadIdx.x == 0) cycles[0] = after - start, cycles[1] = over - start;
}
extern "C" __global__ void issue1(float *sink, long long *cycles) { issued<1>(sink, cycles); }
extern "C" __global__ void issue2(float *sink, long long *cycles) { issued<2>(sink, cycles); }
extern "C" __global__ void issue4(float *sink, long long *cycles) { issued<4>(sink, cycles); }
extern "C" __global__ void issue8(float *sink, long long *cycles) { issued<8>(sink, cycles); }
extern "C" __global__ void issue16(float *sink, long long *cycles) { issued<16>(sink, cycles); }
