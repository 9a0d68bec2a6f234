// Blocks that stay for a known time: which multiprocessor, and which place in it, each warp gets, from when to when.
// A warp writes 4 numbers: multiprocessor and place, the clock when it begins and when it ends, the GPU's timer.
extern "C" {
__device__ __forceinline__ void told(long long* ticks, long long t0, long long t1) {
  unsigned sm, place;
  unsigned long long timer;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(place));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
  long long* to = ticks + 4 * ((blockIdx.x * (long)blockDim.x + threadIdx.x) / 32);
  if (threadIdx.x % 32 == 0) { to[0] = (long long)sm << 16 | place; to[1] = t0; to[2] = t1; to[3] = timer; }
}
// All warps `cycles`, but of every `every`-th one of a block `times` as long.
__global__ void stays(long long* ticks, int cycles, int every, int times) {
  long long t0 = clock64();
  long long until = t0 + (threadIdx.x / 32 % every ? cycles : (long long)cycles * times);
  while (clock64() < until) {}
  told(ticks, t0, clock64());
}
// As long, but nothing is stored at the end: what a block has stored is on its way when it begins to wait.
__global__ void stays_quietly(long long* ticks, int cycles) {
  long long t0 = clock64();
  told(ticks, t0, t0);
  while (clock64() < t0 + cycles) {}
}
}
