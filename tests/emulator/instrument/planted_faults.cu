// Kernels with one planted fault each, and clean ones that look suspicious.
// A comment above each kernel says what is wrong with it (planted_faults.py reads it):
//   // memory | race | init | barrier | clean; grid x block[; n = integers a buffer][; shared = bytes]
// All take `in` = 0, 1, 2 ... and `out` = 0, of n integers each (256 where nothing is said).

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(int *in, int *out, int n)
#define T threadIdx.x

__constant__ int table[16] = {1, 2, 3};

// Memory

// memory; 1 x 64
KERNEL(global_read_behind_the_end) { out[T] = in[n + T]; }
// memory; 1 x 64
KERNEL(global_write_behind_the_end) { out[T == 5 ? n : T] = 1; }
// memory; 1 x 64
KERNEL(global_read_before_the_start) { out[T] = in[(int)T - 1]; }
// memory; 1 x 64
KERNEL(global_read_far_away) { out[T] = in[T + (1ll << 36)]; }
// memory; 1 x 64
KERNEL(global_null_pointer) { out[T] = ((int *)0)[T]; }
// memory; 1 x 64
KERNEL(global_misaligned_word) { out[T] = *(int *)((char *)in + 4 * T + 1); }
// memory; 1 x 32
KERNEL(global_misaligned_vector) { ((int4 *)out)[T] = *(int4 *)(in + 4 * T + 1); }
// memory; 1 x 32; n = 1023
KERNEL(global_half_behind_the_end) { ((int2 *)out)[T] = ((int2 *)in)[480 + T]; }
// memory; 4 x 256; n = 1000
KERNEL(global_no_bounds_check) { int i = blockIdx.x * blockDim.x + T; out[i] = in[i] + 1; }
// memory; 1 x 64
KERNEL(global_atomic_behind_the_end) { atomicAdd(out + n + T, 1); }
// memory; 2 x 64
KERNEL(global_write_of_the_last_block) { int i = blockIdx.x * 64 + T; out[i == 127 ? 4 * n : i] = 3; }
// memory; 1 x 64
KERNEL(shared_read_behind_the_end) { __shared__ int s[64]; s[T] = T; __syncthreads(); out[T] = s[T + in[1] * 64]; }
// memory; 1 x 64
KERNEL(shared_write_behind_the_end) { __shared__ int s[64]; s[T + in[8]] = T; __syncthreads(); out[T] = s[T]; }
// memory; 1 x 64; shared = 256
KERNEL(dynamic_shared_behind_the_end) {
  extern __shared__ int d[];
  d[T + 1] = T;
  __syncthreads();
  out[T] = d[T];
}
// memory; 1 x 32
KERNEL(shared_misaligned) {
  __shared__ int s[64];
  s[T] = T; s[T + 32] = T;
  __syncthreads();
  out[T] = *(int *)((char *)s + 4 * T + in[2]);
}
// memory; 1 x 32
KERNEL(local_far_behind_the_end) {
  volatile int a[256];
  for (int i = 0; i < 256; i++) a[i] = in[i];
  out[T] = a[in[4] * 1000000 + T];
}
// memory; 1 x 32
KERNEL(local_just_behind_the_end) {
  volatile int a[64], b[64];
  for (int i = 0; i < 64; i++) a[i] = b[i] = in[i];
  out[T] = a[in[65]] + b[in[66]];
}
// memory; 1 x 64
KERNEL(shared_into_the_neighbour) {
  __shared__ int a[64], b[64];
  a[T] = T; b[T] = -T;
  __syncthreads();
  out[T] = a[in[64 + T]] + b[T];
}
// memory; 1 x 32
KERNEL(constant_behind_the_end) { out[T] = table[in[20]]; }
// memory; 1 x 32
KERNEL(constant_behind_the_bank) { out[T] = table[in[20] * 1000]; }
// memory; 1 x 64
KERNEL(generic_shared_behind_the_end) {
  __shared__ int s[64];
  s[T] = T;
  __syncthreads();
  int *p = in[T] & 1 ? s : in;
  out[T] = p[T + (in[T] & 1) * 64];
}

// Races

// race; 1 x 64
KERNEL(read_after_write) { __shared__ int s[64]; s[T] = in[T]; out[T] = s[63 - T]; }
// race; 1 x 64
KERNEL(write_after_read) {
  __shared__ int s[64];
  s[T] = in[T];
  __syncthreads();
  int x = s[63 - T];
  s[T] = x + 1;
  __syncthreads();
  out[T] = s[T];
}
// race; 1 x 64
KERNEL(write_after_write) { __shared__ int s; s = in[T]; __syncthreads(); out[T] = s; }
// race; 1 x 32
KERNEL(write_after_write_in_a_warp) { __shared__ int s[16]; s[T / 2] = in[T]; __syncthreads(); out[T] = s[T / 2]; }
// race; 1 x 256
KERNEL(tile_without_second_barrier) {
  __shared__ int s[256];
  int sum = 0;
  for (int k = 0; k < 4; k++) {
    s[T] = in[T] + k;
    __syncthreads();
    sum += s[255 - T];
  }
  out[T] = sum;
}
// race; 1 x 256
KERNEL(reduction_without_barrier) {
  __shared__ int s[256];
  s[T] = in[T];
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (T < k) s[T] += s[T + k];
  }
  if (T == 0) out[0] = s[0];
}
// race; 1 x 32
KERNEL(warp_without_syncwarp) { __shared__ int s[32]; s[T] = in[T]; out[T] = s[T ^ 1]; }
// race; 1 x 32
KERNEL(warp_volatile_reduction) {
  __shared__ volatile int s[64];
  s[T] = in[T]; s[T + 32] = in[T + 32];
  s[T] += s[T + 16];
  s[T] += s[T + 8];
  s[T] += s[T + 4];
  out[T] = s[T];
}
// race; 1 x 32
KERNEL(warp_halves_apart) {
  __shared__ int s[16];
  if (in[T] < 16) s[T] = in[T] * 3;
  else out[T] = s[T - 16];
}
// race; 1 x 32
KERNEL(warp_shuffle_is_no_fence) {
  __shared__ int s[32];
  s[T] = in[T];
  int x = __shfl_xor_sync(~0u, (int)T, 1);
  out[T] = s[x];
}
// race; 1 x 64
KERNEL(atomic_and_plain_read) { __shared__ int s; if (T == 0) s = 0; __syncthreads(); atomicAdd(&s, 1); out[T] = s; }
// race; 1 x 64
KERNEL(atomic_and_plain_write) {
  __shared__ int s;
  if (T == 40) s = 5;
  atomicAdd(&s, in[T]);
  __syncthreads();
  out[T] = s;
}
// race; 1 x 64
KERNEL(barrier_of_other_number) {
  __shared__ int s[32];
  if (T < 32) { s[T] = in[T]; asm volatile("bar.arrive 1, 64;" ::: "memory"); asm volatile("bar.sync 2, 32;" ::: "memory"); }
  else { asm volatile("bar.sync 3, 32;" ::: "memory"); out[T] = s[T - 32]; asm volatile("bar.sync 1, 64;" ::: "memory"); }
}
// race; 1 x 64
KERNEL(double_buffer_of_one) {
  __shared__ int s[2][64];
  int x = 0;
  s[0][T] = in[T];
  for (int k = 0; k < 4; k++) {
    __syncthreads();
    x += s[k & 1][63 - T];
    s[k & 1][T] = x;
  }
  out[T] = x;
}
// race; 1 x 64
KERNEL(volatile_flag) {
  __shared__ volatile int flag, value;
  if (T == 0) flag = 0;
  __syncthreads();
  if (T == 32) { value = 7; __threadfence_block(); flag = 1; }
  if (T == 0) { for (int k = 0; k < 1000 && !flag; k++); out[0] = value; }
}
// race; 1 x 64
KERNEL(through_generic_pointers) {
  __shared__ int s[64];
  int *p = in[0] ? in : s;
  p[T] = in[T];
  out[T] = s[63 - T];
}
// race; 1 x 64; shared = 256
KERNEL(in_dynamic_shared) { extern __shared__ int d[]; d[T] = in[T]; out[T] = d[(T + 32) % 64]; }
// race; 1 x 64
KERNEL(wide_write_narrow_read) {
  __shared__ int2 s[64];
  s[T] = make_int2(in[T], in[T] + 1);
  out[T] = ((int *)s)[(T * 2 + 65) % 128];
}
// race; 1 x 64
KERNEL(one_byte) {
  __shared__ char s[64];
  s[T] = in[T];
  out[T] = s[(T + 32) % 64];
}
// race; 4 x 64
KERNEL(in_the_last_block) {
  __shared__ int s[64];
  s[T] = in[T];
  if (blockIdx.x < 3) __syncthreads();
  out[T] = s[63 - T];
}
// race; 1 x 64
KERNEL(one_thread_too_many) {
  __shared__ int s[64];
  s[T] = in[T];
  __syncthreads();
  if (in[T] == 37) s[3] = 1;
  out[T] = s[T];
}
// race; 1 x 64
KERNEL(only_a_part_waits) {
  __shared__ int s[64];
  s[T] = in[T];
  if (T < 32) asm volatile("bar.sync 1, 32;" ::: "memory");
  out[T] = s[63 - T];
}
// race; 2 x 64
KERNEL(in_global_memory) { out[0] = in[T]; if (T == 3) out[1] = out[0]; }

// Uninitialised memory

// init; 1 x 64
KERNEL(shared_never_written) { __shared__ int s[64]; if (in[0]) s[T] = 1; __syncthreads(); out[T] = s[T]; }
// init; 1 x 64
KERNEL(shared_half_written) { __shared__ int s[64]; if (T < 32) s[T] = 1; __syncthreads(); out[T] = s[T]; }
// init; 1 x 64
KERNEL(shared_atomic_without_start) { __shared__ int s; atomicAdd(&s, in[T]); __syncthreads(); out[T] = s; }
// init; 1 x 64
KERNEL(shared_row_left_out) {
  __shared__ int s[66];
  s[T + 1] = in[T];
  if (T == 0) s[0] = 0;
  __syncthreads();
  out[T] = s[T] + s[T + 1] + s[T + 2];
}
// init; 2 x 32
KERNEL(shared_of_the_block_before) {
  __shared__ int s[32];
  if (blockIdx.x == 0) s[T] = in[T];
  __syncthreads();
  out[T] = s[T ^ 1];
}
// init; 1 x 32
KERNEL(local_never_written) {
  volatile int a[256];
  for (int i = in[0]; i < in[8]; i++) a[i] = i;
  out[T] = a[in[T] & 15];
}
// init; 1 x 64
KERNEL(global_never_written) { out[T] = out[T + 64] + in[T]; }

// Barriers

// barrier; 1 x 64
KERNEL(part_of_a_warp) { if (in[T] < 16) __syncthreads(); out[T] = 1; }
// barrier; 1 x 64
KERNEL(one_warp_of_two) { if (in[T] < 32) __syncthreads(); out[T] = 1; }
// clean; 1 x 64
KERNEL(half_a_warp_has_left) { if (in[T] >= 48) return; __syncthreads(); out[T] = 1; }
// clean; 1 x 64
KERNEL(a_warp_has_left) { if (in[T] >= 32) return; __syncthreads(); out[T] = 1; }
// barrier; 1 x 64
KERNEL(two_places) {
  if (in[T] < 32) { out[T] = 1; __syncthreads(); out[T] += in[1]; }
  else { out[T] = 2; __syncthreads(); out[T] += in[5]; }
}
// barrier; 1 x 32
KERNEL(two_places_in_a_warp) {
  if (in[T] < 16) { out[T] = 1; __syncthreads(); out[T] += in[1]; }
  else { out[T] = 2; __syncthreads(); out[T] += in[5]; }
}
// barrier; 1 x 128
KERNEL(loops_of_different_length) { for (int k = 0; k <= in[T] / 32; k++) { out[T] += k; __syncthreads(); } }
// barrier; 1 x 32
KERNEL(syncwarp_of_others) { if (in[T] < 16) __syncwarp(in[1] * 0xff00); out[T] = 1; }
// barrier; 1 x 64
KERNEL(waits_for_nobody) { if (in[T] < 32) asm volatile("barrier.sync 1, 64;"); out[T] = 1; }
// barrier; 1 x 64
KERNEL(two_barriers_crossed) {
  if (in[T] < 32) { asm volatile("barrier.sync 1, 64;"); asm volatile("barrier.sync 2, 64;"); }
  else { asm volatile("barrier.sync 2, 64;"); asm volatile("barrier.sync 1, 64;"); }
  out[T] = 1;
}
// barrier; 1 x 64
KERNEL(warp_and_block_wait_for_each_other) {
  if (in[T] % 32 < 16) { __syncwarp(in[1] * ~0u); __syncthreads(); }
  else { __syncthreads(); __syncwarp(in[1] * ~0u); }
  out[T] = 1;
}

// Nothing wrong

// clean; 1 x 32
KERNEL(clean_syncwarp) { __shared__ int s[32]; s[T] = in[T]; __syncwarp(); out[T] = s[T ^ 1]; }
// clean; 1 x 64
KERNEL(clean_syncwarp_halves) {
  __shared__ int s[64];
  unsigned half = T & 16 ? 0xffff0000u : 0xffffu;
  s[T] = in[T];
  __syncwarp(half);
  int x = s[T ^ 1];
  __syncwarp(half);
  s[T ^ 2] = x;
  __syncwarp(half);
  out[T] = s[T];
}
// clean; 1 x 32
KERNEL(clean_syncwarp_in_a_branch) {
  __shared__ int s[32];
  if (in[T] < 16) { s[T] = in[T]; __syncwarp(0xffff); out[T] = s[T ^ 1]; }
  else { s[T] = 2 * in[T]; __syncwarp(0xffff0000); out[T] = s[T ^ 3]; }
}
// clean; 1 x 64
KERNEL(clean_volatile_reduction) {
  __shared__ volatile int s[128];
  s[T] = in[T]; s[T + 64] = 0;
  __syncthreads();
  if (T < 32) {
    int x = s[T];
    for (int k = 32; k > 0; k /= 2) { x += s[T + k]; __syncwarp(); s[T] = x; __syncwarp(); }
    if (T == 0) out[0] = x;
  }
}
// clean; 1 x 256
KERNEL(clean_reduction) {
  __shared__ int s[256];
  s[T] = in[T];
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) { if (T < k) s[T] += s[T + k]; __syncthreads(); }
  if (T == 0) out[0] = s[0];
}
// clean; 1 x 64
KERNEL(clean_double_buffer) {
  __shared__ int s[2][64];
  int x = in[T];
  for (int k = 0; k < 6; k++) { s[k & 1][T] = x; __syncthreads(); x += s[k & 1][63 - T]; }
  out[T] = x;
}
// clean; 1 x 64
KERNEL(clean_shuffle_reduction) {
  __shared__ int s[2];
  int x = in[T];
  for (int k = 16; k > 0; k /= 2) x += __shfl_down_sync(~0u, x, k);
  if (T % 32 == 0) s[T / 32] = x;
  __syncthreads();
  if (T == 0) out[0] = s[0] + s[1];
}
// clean; 1 x 64
KERNEL(clean_cooperative_tile) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  s[T] = in[T];
  tile.sync();
  int x = s[T ^ 7];
  cg::this_thread_block().sync();
  s[63 - T] = x;
  cg::this_thread_block().sync();
  out[T] = s[T];
}
// clean; 1 x 64
KERNEL(clean_cooperative_small_tile) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  s[T] = in[T];
  tile.sync();
  out[T] = s[T ^ 5];
}
// clean; 1 x 128
KERNEL(clean_histogram) {
  __shared__ int s[16];
  if (T < 16) s[T] = 0;
  __syncthreads();
  atomicAdd(&s[in[T] % 16], 1);
  __syncthreads();
  if (T < 16) atomicAdd(out + T, s[T]);
}
// clean; 1 x 64
KERNEL(clean_same_value) { __shared__ int s; s = 1; __syncthreads(); out[T] = s; }
// clean; 1 x 64
KERNEL(clean_bytes_side_by_side) {
  __shared__ char s[64];
  s[T ^ 32] = in[T];
  out[T] = s[T ^ 32];
}
// clean; 1 x 64
KERNEL(clean_named_barriers) {
  __shared__ int s[32];
  for (int k = 0; k < 3; k++) {
    if (T < 32) {
      asm volatile("bar.sync 2, 64;" ::: "memory");
      s[T] = in[T] + k;
      __threadfence_block();
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.arrive 2, 64;" ::: "memory");
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[T] += s[63 - T];
    }
  }
}
// clean; 1 x 64
KERNEL(clean_barrier_reductions) {
  __shared__ int s[64];
  s[T] = in[T];
  int odd = __syncthreads_count(in[T] & 1);
  int x = s[63 - T];
  if (__syncthreads_or(x > 60)) s[T] = x;
  __syncthreads();
  out[T] = s[63 - T] + odd;
}
// clean; 2 x 64
KERNEL(clean_barrier_of_one_block) {
  __shared__ int s[64];
  s[T] = in[T];
  if (blockIdx.x == 0) { __syncthreads(); out[T] = s[63 - T]; }
  else out[64 + T] = s[T];
}
// clean; 1 x 64
KERNEL(clean_lock) {
  __shared__ int lock, sum;
  if (T == 0) lock = sum = 0;
  __syncthreads();
  if (T % 32 == 0) {
    while (atomicCAS(&lock, 0, 1)) ;
    __threadfence_block();
    sum += in[T] + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  out[T] = sum;
}
// clean; 2 x 64
KERNEL(clean_transpose) {
  __shared__ int s[8][9];
  s[T / 8][T % 8] = in[blockIdx.x * 64 + T];
  __syncthreads();
  out[blockIdx.x * 64 + T] = s[T % 8][T / 8];
}
// clean; 1 x 32
KERNEL(clean_lanes_leave_early) {
  __shared__ int s[32];
  s[T] = in[T];
  __syncwarp();
  if (T >= 20) return;
  int x = s[T + 3];
  __syncwarp(0xfffff);
  s[T] = x;
  __syncwarp(0xfffff);
  out[T] = s[T ^ 1];
}
// clean; 1 x 64
KERNEL(clean_padding) {
  struct Odd { char a; int b; };
  __shared__ Odd s[64];
  s[T].a = in[T]; s[T].b = in[T];
  __syncthreads();
  Odd other = s[63 - T];
  out[T] = other.a + other.b;
}
// clean; 1 x 32
KERNEL(clean_local_table) {
  volatile int a[256];
  for (int i = 0; i < 256; i++) a[i] = i * in[2];
  out[T] = a[in[T] & 63];
}
