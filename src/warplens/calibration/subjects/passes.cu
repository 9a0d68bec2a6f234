// Atomics as they leave a multiprocessor: lanes on words that are the same, near, or far from each other.
#define LANES (((threadIdx.x % 32 % words) * step + warp * 1056u + r * ahead) & 0xfffffu)
extern "C" {
__global__ void passes_add(unsigned* p, unsigned words, unsigned step, unsigned ahead, int rounds) {
  unsigned warp = (threadIdx.x + blockIdx.x * blockDim.x) / 32;
  for (int r = 0; r < rounds; ++r) atomicAdd(p + LANES, 1u + r);
}
__global__ void passes_return(unsigned* p, unsigned* sink, unsigned words, unsigned step, unsigned ahead, int rounds) {
  unsigned warp = (threadIdx.x + blockIdx.x * blockDim.x) / 32, sum = 0;
  for (int r = 0; r < rounds; ++r) sum += atomicAdd(p + LANES, 1u + r);
  if (sum == 123456789u) sink[0] = sum;
}
// One thread, one atomic after the other, each in another line: near ones and far ones.
__global__ void place(long long* ticks, unsigned* p, unsigned* sink, int rounds) {
  unsigned at = 0;
  for (int r = 0; r < rounds; ++r) {
    long long start = clock64();
    at += atomicMax(p + (at + r * 34848u & 0xfffffu), 0u);
    ticks[r] = clock64() - start + at;
  }
  if (at == 123456789u) sink[0] = at;
}
// All warps on the same few words, other ones in each round.
__global__ void step(unsigned* p, unsigned words, int apart, int rounds) {
  unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u;
  for (int r = 0; r < rounds; ++r) {
    unsigned any = (at ^ r * 77u) * 1664525u;
    atomicAdd(p + r * apart + (unsigned)(((unsigned long long)any * words) >> 32), 1u + r);
  }
}
}
