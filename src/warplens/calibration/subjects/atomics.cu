// Atomics on global memory.
extern "C" {
// One after the other, each on another line 4 KiB on: some near, some far.
__global__ void chase_atomic(long long* ticks, unsigned* p, unsigned* sink, int rounds) {
  unsigned i = 0;
  TICKS(for (int r = 0; r < rounds; ++r) { _Pragma("unroll") for (int k = 0; k < 16; ++k) i = atomicMax(&p[i + 1056 * k], 0u); })
  if (i == 0xffffffffu) sink[0] = i;
}
// Lanes `step` words apart, warps `apart` words.
__global__ void global_add(unsigned* p, int step, int apart, int rounds) {
  unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int r = 0; r < rounds; ++r) atomicAdd(&p[lane * step + warp * apart], r + lane);
}
__global__ void global_add_float(float* p, int step, int apart, int rounds) {
  unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int r = 0; r < rounds; ++r) atomicAdd(&p[lane * step + warp * apart], 1.0f);
}
// As many words as threads, one lane a warp: what the last line of a reduction does.
__global__ void global_add_once(float* p, int rounds) {
  for (int r = 0; r < rounds; ++r)
    if (threadIdx.x % 32 == 0) atomicAdd(p, 1.0f);
}
__global__ void global_exchange(unsigned* p, unsigned* sink, int step, int apart, int rounds) {
  unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, v = lane;
  for (int r = 0; r < rounds; ++r) v = atomicExch(&p[lane * step + warp * apart], v);
  if (v == 123456789u) sink[0] = v;
}
}
