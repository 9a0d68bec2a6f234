// What the kernels of warpgroups share: memory, the clock, and the number of a thread's warpgroup.
#pragma once
#ifndef DEVICE
#define DEVICE __device__ __forceinline__
#endif

extern __shared__ __align__(1024) unsigned char memory[];

DEVICE long long now() {
  long long t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
DEVICE int warpgroup() { return __shfl_sync(~0u, threadIdx.x / 128, 0); }
