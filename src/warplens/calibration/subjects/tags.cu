// Loads that hit L1, without conflicts of banks: lane i reads word i of a line; `groups` lines, `distance` lines apart.
extern "C" __global__ void hits_lines(long long* ticks, const float* x, float* sink, int rounds, int groups, int distance, int hop) {
  int lane = threadIdx.x % 32;
  const float* p = x + (long)(lane * groups / 32) * distance * 32 + lane;
  float v = *p, w[16];
  __syncthreads();
  TICKS(for (int r = 0; r < rounds; ++r) {
    UNROLLED(16) { asm volatile("ld.global.f32 %0, [%1];" : "=f"(w[i]) : "l"(p)); p += hop; }
    UNROLLED(16) v += w[i];
  })
  if (v == UNLIKELY) sink[0] = v;
}
