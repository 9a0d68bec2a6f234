// Threads that walk along rows of their own and store to the lines that they load from: cycles a step.
// nvcc -arch=sm_90 -O3 rows_in_place.cu && ./a.out; hits of L1 by ncu from the same program.
#include <cstdio>
template <int AHEAD, int BEHIND, bool SAME, bool STORES>
__device__ float walk(float* a, float* b, int steps, int step, float v) {
  float *p = a, *q = SAME ? a : b;
  #pragma unroll 1
  for (int i = 0; i < steps; i++) {
    v = v * 0.5f + p[AHEAD];
    if (STORES) q[-BEHIND] = v;
    p += step, q += step;
  }
  return v;
}
#define KERNEL(name, AHEAD, BEHIND, SAME, STORES) \
  __global__ void name(float* a, float* b, int steps, int step, int pitch, long long* cycles, float* out) { \
    int t = blockIdx.x * blockDim.x + threadIdx.x; \
    float *p = a + (size_t)t * pitch + 64, *q = b + (size_t)t * pitch + 64, v = t; \
    for (int r = 0; r < 3; r++) { \
      long long s = clock64(); \
      v += walk<AHEAD, BEHIND, SAME, STORES>(p, q, steps, step, v); \
      long long e = clock64(); \
      if (threadIdx.x == 0) cycles[blockIdx.x * 3 + r] = e - s; \
    } \
    out[t] = v; \
  }
KERNEL(in_place, 0, 0, true, true)
KERNEL(other_array, 0, 0, false, true)
KERNEL(loads_only, 0, 0, true, false)
KERNEL(ahead_32, 32, 0, true, true)
KERNEL(ahead_8, 8, 0, true, true)
KERNEL(ahead_1, 1, 0, true, true)
KERNEL(behind_32, 0, 32, true, true)
KERNEL(behind_8, 0, 8, true, true)
KERNEL(behind_1, 0, 1, true, true)
struct Case { int blocks, threads, steps, step, pitch; };
int main() {
  float *a, *b, *out;
  long long* cycles;
  size_t room = (size_t)132 * 64 * 9000 * 4;
  cudaMalloc(&a, room), cudaMalloc(&b, room), cudaMalloc(&out, 1 << 20), cudaMalloc(&cycles, 1 << 16);
  cudaMemset(a, 0, room), cudaMemset(b, 0, room);
  void (*kernels[])(float*, float*, int, int, int, long long*, float*) =
    {in_place, other_array, loads_only, ahead_32, ahead_8, ahead_1, behind_32, behind_8, behind_1};
  const char* names[] = {"in_place", "other_array", "loads_only", "ahead_32", "ahead_8", "ahead_1", "behind_32", "behind_8", "behind_1"};
  Case cases[] = {{1, 32, 256, 1, 512}, {1, 4, 256, 1, 512}, {1, 8, 256, 1, 512}, {1, 16, 256, 1, 512}, {1, 24, 256, 1, 512},
    {1, 32, 256, 2, 1024}, {1, 1, 1024, 1, 2048}, {1, 1, 1024, 2, 4096}, {1, 32, 256, 1, 513}, {1, 32, 256, 1, 1},
    {132, 64, 128, 1, 512}, {132, 64, 4096, 1, 8192}, {1, 1, 64, 32, 4096}, {1, 64, 256, 1, 512}, {1, 1, 4096, 1, 8192}};
  printf("access,blocks,threads,steps,step,pitch,cycles_a_step,cycles_a_step_again\n");
  for (auto& c : cases)
    for (int k = 0; k < 9; k++) {
      kernels[k]<<<c.blocks, c.threads>>>(a, b, c.steps, c.step, c.pitch, cycles, out);
      long long h[3];
      cudaMemcpy(h, cycles, sizeof h, cudaMemcpyDeviceToHost);
      printf("%s,%d,%d,%d,%d,%d,%.2f,%.2f\n", names[k], c.blocks, c.threads, c.steps, c.step, c.pitch,
             (double)h[0] / c.steps, (double)h[2] / c.steps);
    }
}
