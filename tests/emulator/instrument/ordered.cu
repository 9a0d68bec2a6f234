// Kernels whose threads meet in global memory, or wait for asynchronous copies.  Above each stands what --check races says
// of it (test_ordered.py reads it): error | warning | note | clean; grid x block[; cooperative].
// All take `in` = 0, 1, 2 ..., `out` and `sync` = 0, of 4,096 integers each.

#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(const int *in, int *out, int *sync)
#define T threadIdx.x
#define B blockIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)

// error; 4 x 64
KERNEL(sum_without_atomics) { *out += in[I]; }
// error; 4 x 64
KERNEL(two_blocks_write) { out[T] = in[I]; }
// error; 4 x 64
KERNEL(neighbour_of_other_block) { out[I] = in[I]; sync[I] = out[(I + 64) % 256]; }
// error; 2 x 64
KERNEL(in_place_stencil) { out[I + 1] = out[I] + in[I]; }
// error; 1 x 64
KERNEL(warps_without_barrier) { out[T] = in[T]; sync[T] = out[63 - T]; }
// warning; 1 x 32
KERNEL(lanes_without_syncwarp) { out[T] = in[T]; sync[T] = out[31 - T]; }
// error; 1 x 32
KERNEL(one_instruction) { out[T / 2] = in[T]; }
// warning; 2 x 32
KERNEL(atomic_and_plain) { if (B == 0) atomicAdd(out, 1); else out[T + 1] = out[0]; }
// error; 4 x 64
KERNEL(last_block_without_fence) {
  __shared__ bool last;
  out[I] = in[I];
  __syncthreads();
  if (T == 0) last = atomicAdd(sync, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) sync[1 + T] = out[T] + out[64 + T];
}
// error; 4 x 64
KERNEL(last_block_without_barrier) {
  __shared__ bool last;
  out[I] = in[I];
  if (T == 0) { __threadfence(); last = atomicAdd(sync, 1) == gridDim.x - 1; }
  __syncthreads();
  if (last) sync[1 + T] = out[T] + out[64 + T];
}
// error; 2 x 32
KERNEL(flag_without_fence) {
  if (B == 0) { out[T] = in[T]; __syncwarp(); if (T == 0) *(volatile int *)sync = 1; }
  else { while (!*(volatile int *)sync); sync[1 + T] = out[T]; }
}
// error; 2 x 32
KERNEL(plain_flag) {
  if (B == 0) { out[T] = in[T]; __threadfence(); if (T == 0) *sync = 1; }
  else { if (*(volatile int *)sync) sync[1 + T] = out[T]; }
}
// error; 4 x 32; cooperative
KERNEL(grid_without_sync) { out[I] = in[I]; __syncthreads(); sync[I] = out[(I + 32) % 128]; }
// error; 1 x 64
KERNEL(bytes_overlap) { ((char *)out)[T] = in[T]; __syncwarp(); sync[T] = ((char *)out)[63 - T]; }
// error; 2 x 32
KERNEL(wide_and_narrow) { if (B) ((int4 *)out)[T] = make_int4(1, 2, 3, T + 4); else sync[T] = out[4 * T + 3]; }
// note; 4 x 64
KERNEL(same_value) { if (in[I] % 3 == 0) *out = 1; }
// note; 4 x 64
KERNEL(compare_and_swap_loop) {
  int old = *out, was;
  do { was = old; old = atomicCAS(out, was, was * 3 + in[I]); } while (old != was);
}
// note; 2 x 32
KERNEL(atomic_of_a_half) {
  if (B == 0) atomicAdd((__half2 *)out, __half2(1, 2));
  else atomicAdd((__half *)out, __half(1));
}
// error; 2 x 32
KERNEL(atomic_and_plain_write) { if (B == 0) atomicAdd(out, 1); else if (T == 0) out[0] = 7; }
// error; 4 x 64
KERNEL(same_value_is_read) { if (!*out && in[I] == 150) *out = 1; }

// clean; 4 x 64
KERNEL(each_its_own) { out[I] = in[I]; out[I] += in[I + 1]; }
// clean; 4 x 64
KERNEL(bytes_side_by_side) { ((char *)out)[I] = in[I]; }
// clean; 4 x 64
KERNEL(counted) { atomicAdd(out + in[I] % 16, 1); }
// clean; 4 x 64
KERNEL(handed_out) { out[atomicAdd(sync, 1)] = in[I]; }
// clean; 2 x 64
KERNEL(behind_a_barrier) { out[I] = in[I]; __syncthreads(); int x = out[64 * B + 63 - T]; __syncthreads(); out[I] = x; }
// clean; 1 x 32
KERNEL(behind_syncwarp) { out[T] = in[T]; __syncwarp(); sync[T] = out[31 - T]; }
// clean; 8 x 64
KERNEL(last_block) {
  __shared__ bool last;
  out[I] = in[I];
  __threadfence();
  __syncthreads();
  if (T == 0) last = atomicAdd(sync, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) { int sum = 0; for (int k = 0; k < 8; k++) sum += out[64 * k + T]; out[1024 + T] = sum; if (T == 0) *sync = 0; }
}
// clean; 8 x 64
KERNEL(last_block_with_one_fence) {
  __shared__ bool last;
  out[I] = in[I];
  __syncthreads();
  if (T == 0) { __threadfence(); last = atomicInc((unsigned *)sync, gridDim.x - 1) == gridDim.x - 1; __threadfence(); }
  __syncthreads();
  if (last) { int sum = 0; for (int k = 0; k < 8; k++) sum += out[64 * k + T]; out[1024 + T] = sum; }
}
// clean; 8 x 32
KERNEL(chain_of_blocks) {
  __shared__ int before;
  out[512 + I] = in[I];
  if (T == 0) {
    int x = 0;
    if (B) { while (!((volatile int *)sync)[B - 1]); __threadfence(); x = out[B - 1]; }
    before = x;
    out[B] = x + 1;
    __threadfence();
    ((volatile int *)sync)[B] = 1;
  }
  __syncthreads();
  out[256 + I] = before;
}
// clean; 4 x 32
KERNEL(release_and_acquire) {
  if (B == 0) {
    out[T] = in[T];
    __syncwarp();
    if (T == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(sync) : "memory");
  } else {
    int x;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(sync) : "memory"); while (!x);
    out[B * 32 + T] = out[T];
  }
}
// clean; 4 x 64
KERNEL(lock) {
  if (T % 32 == 0) {
    while (atomicCAS(sync, 0, 1)) ;
    __threadfence();
    out[0] += in[T] + 1;
    __threadfence();
    atomicExch(sync, 0);
  }
}
// clean; 4 x 64; cooperative
KERNEL(grid_barrier) {
  auto grid = cg::this_grid();
  for (int k = 0; k < 3; k++) { out[I] = in[I] + k; grid.sync(); sync[I] += out[(I + 64) % 256]; grid.sync(); }
}
// clean; 4 x 64; cooperative
KERNEL(own_grid_barrier) {
  out[I] = in[I];
  __syncthreads();
  if (T == 0) { __threadfence(); atomicAdd(sync, 1); while (*(volatile int *)sync < gridDim.x); __threadfence(); }
  __syncthreads();
  out[1024 + I] = out[(I + 64) % 256];
}

// clean; 1 x 64
KERNEL(copy_and_wait) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + T, in + T, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[T] = s[63 - T];
}
// clean; 1 x 64
KERNEL(copy_of_its_own) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + T, in + T, 4);
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[T] = s[T];
}
// clean; 2 x 64
KERNEL(pipeline_of_three) {
  __shared__ int s[3][64];
  for (int k = 0; k < 2; k++) { __pipeline_memcpy_async(&s[k][T], in + 64 * k + T, 4); __pipeline_commit(); }
  int sum = 0;
  for (int k = 0; k < 8; k++) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (k < 6) __pipeline_memcpy_async(&s[(k + 2) % 3][T], in + 64 * (k + 2) + T, 4);
    __pipeline_commit();
    sum += s[k % 3][63 - T];
  }
  out[I] = sum;
}
// error; 1 x 64
KERNEL(copy_without_wait) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + T, in + T, 4);
  __pipeline_commit();
  __syncthreads();
  out[T] = s[63 - T];
}
// error; 1 x 64
KERNEL(own_copy_without_wait) { __shared__ int s[64]; __pipeline_memcpy_async(s + T, in + T, 4); out[T] = s[T]; }
// error; 1 x 64
KERNEL(wait_behind_the_barrier) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + T, in + T, 4);
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  out[T] = s[63 - T];
}
// error; 1 x 64
KERNEL(waits_for_too_few) {
  __shared__ int s[2][64];
  for (int k = 0; k < 2; k++) { __pipeline_memcpy_async(&s[k][T], in + 64 * k + T, 4); __pipeline_commit(); }
  __pipeline_wait_prior(1);
  __syncthreads();
  out[T] = s[1][63 - T];
}
// error; 1 x 64
KERNEL(overwrites_a_pending_copy) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + T, in + T, 4);
  s[T] = 1;
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[T] = s[T];
}
