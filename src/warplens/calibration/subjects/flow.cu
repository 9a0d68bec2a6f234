// Branches, barriers, fences.
extern "C" {
// A loop whose body is one addition.
__global__ void loop_branch(long long* ticks, float* sink, int rounds) {
  float a = F(0);
  TICKS(_Pragma("unroll 1") for (int r = 0; r < 64 * rounds; ++r) asm volatile("add.f32 %0, %0, 0f3f800000;" : "+f"(a));)
  if (a == UNLIKELY) sink[0] = 1;
}
// A loop whose condition is known long before its branch: 64 additions behind it.
__global__ void loop_long(long long* ticks, float* sink, int rounds) {
  float a = F(0);
  TICKS(_Pragma("unroll 1") for (int r = 0; r < 64 * rounds; ++r) { UNROLLED(64) asm volatile("add.f32 %0, %0, 0f3f800000;" : "+f"(a)); })
  if (a == UNLIKELY) sink[0] = 1;
}
// Each warp parts at every step: half of its lanes take one side.
__global__ void loop_parting(long long* ticks, float* sink, int rounds) {
  float a = F(0);
  TICKS(_Pragma("unroll 1") for (int r = 0; r < 64 * rounds; ++r) {
    if ((threadIdx.x + r) & 1) asm volatile("add.f32 %0, %0, 0f3f800000;" : "+f"(a));
    else asm volatile("mul.f32 %0, %0, 0f3f800001;" : "+f"(a));
  })
  if (a == UNLIKELY) sink[0] = 1;
}
__global__ void loop_barrier(long long* ticks, float* sink, int rounds) {
  TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) { UNROLLED(16) __syncthreads(); })
}
__global__ void loop_fence(long long* ticks, float* sink, int rounds) {
  TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) { UNROLLED(4) __threadfence(); })
}
}
