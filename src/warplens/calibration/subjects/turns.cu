// Whose turn it is: which of the warps that could issue does, and when warps with the same work end.
extern "C" {
// Warp `who` tells when it has done its part, from the moment at which all began; four chains of additions.
__global__ void turn_add(long long* ticks, float* sink, int rounds, int who) {
  float a = F(0), b = F(1), c = F(2), d = F(3);
  __syncthreads();
  long long t0 = clock64();
  for (int r = 0; r < rounds; ++r) {
    UNROLLED(16) asm volatile("add.f32 %0, %0, 0f3f800000; add.f32 %1, %1, 0f3f800000; add.f32 %2, %2, 0f3f800000;"
                              "add.f32 %3, %3, 0f3f800000;" : "+f"(a), "+f"(b), "+f"(c), "+f"(d));
  }
  if (threadIdx.x == 32 * who) ticks[0] = clock64() - t0;
  if (a + b + c + d == UNLIKELY) sink[0] = 1;
}
// The same with loads: each lane has a line of its own, so that the load/store unit limits.
__global__ void turn_load(long long* ticks, const float* x, float* sink, int rounds, int who) {
  const float* p = x + threadIdx.x % 32 * 32;
  float v = 0, w[4];
  UNROLLED(32) v += p[i];
  __syncthreads();
  long long t0 = clock64();
  for (int r = 0; r < rounds; ++r) {
    UNROLLED(4) asm volatile("ld.global.f32 %0, [%1];" : "=f"(w[i]) : "l"(p + (r + i) % 32));
    UNROLLED(4) v += w[i];
  }
  if (threadIdx.x == 32 * who) ticks[0] = clock64() - t0;
  if (v == UNLIKELY) sink[0] = v;
}
// Every warp reads its part of memory that fits into L2, `rounds` times 4 loads at once, and tells how long that took.
__global__ void turn_far(long long* ticks, const char* x, float* sink, int rounds, unsigned bytes, int meet) {
  unsigned at = (blockIdx.x * 7919u * 4096u + threadIdx.x * 4) & (bytes - 1);
  float sum = 0, v[4];
  long long t0 = clock64();
  for (int r = 0; r < rounds; ++r) {
    UNROLLED(4) {
      asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v[i]) : "l"(x + at));
      at = (at + blockDim.x * 4) & (bytes - 1);
    }
    UNROLLED(4) sum += v[i];
    if (meet) __syncthreads();
  }
  if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = clock64() - t0;
  if (sum == UNLIKELY) sink[0] = sum;
}
}
