// Loads and stores of one thread, or of a warp's lanes in rows of their own, that go over the same sectors again and
// again: how many of the loads at each place of the loop take as long as a miss.
// nvcc -arch=sm_90 -O3 -std=c++20 stores_in_flight.cu && ./a.out
#include <cstdio>
#define LD(v, p) asm volatile("ld.global.ca.f32 %0,[%1];" : "=f"(v) : "l"(p) : "memory")
#define ST(p, v) asm volatile("st.global.f32 [%0],%1;" ::"l"(p), "f"(v) : "memory")
template <int N> __device__ __forceinline__ float chain(float x) {
  #pragma unroll
  for (int i = 0; i < N; i++) asm volatile("fma.rn.f32 %0,%0,%0,%0;" : "+f"(x));
  return x;
}
// Each step moves on by `words` words.  VAR: what a step does.
template <int VAR, int PAD>
__global__ void walk(float* a, int pitch, int words, int steps, int passes, int first, int* slow, int* cycles, float* out) {
  int lane = threadIdx.x, n0 = 0, n1 = 0;
  float x = lane, v = 0, w = 0;
  int began = clock();
  for (int r = 0; r < passes; r++) {
    float* p = a + (size_t)lane * pitch + first;
    #pragma unroll 1
    for (int i = 0; i < steps; i++) {
      int c0 = clock();
      LD(v, p);
      if (VAR == 0 || VAR == 3) ST(p, x);          // behind the load, which it does not wait for
      x = x + v;
      asm volatile("" : "+f"(x));
      int c1 = clock();
      if (VAR == 1) ST(p, x);                      // when the load has come
      if (VAR == 4) { ST(p, x); ST(p + 1, x); }    // two words
      x = chain<PAD>(x);
      int c2 = clock();
      if (VAR == 0 || VAR == 1 || VAR == 2 || VAR == 4) LD(w, p + 1 + (VAR == 4));
      x = x + w;
      asm volatile("" : "+f"(x));
      int c3 = clock();
      if (VAR == 0) ST(p + 1, x);
      if (r) { n0 += c1 - c0 > 150; n1 += c3 - c2 > 150; }
      p += words;
    }
  }
  if (lane == 0) slow[0] = n0, slow[1] = n1, cycles[0] = clock() - began;
  out[lane] = x;
}
int main() {
  float *a, *out; int *c, h[3];
  cudaMalloc(&a, 64 << 20), cudaMalloc(&out, 4096), cudaMalloc(&c, 64); cudaMemset(a, 0, 64 << 20);
  printf("variant,pad,threads,pitch,words,steps,first,slow_first,slow_second,of,cycles_a_step\n");
  auto run = [&](auto k, int var, int pad) {
    for (int threads : {1, 8, 16, 32})
      for (int pitch : {512, 1024, 544})
        for (int words : {2, 8, 32})
          for (int first : {0, 2, 6}) {
            if (threads == 1 && pitch != 512) continue;
            if (first && words != 8) continue;
            int steps = words == 32 ? 8 : 24, passes = 9;
            k<<<1, threads>>>(a, pitch, words, steps, passes, first, c, c + 2, out);
            cudaMemcpy(h, c, 12, cudaMemcpyDeviceToHost);
            printf("%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%.1f\n", var, pad, threads, pitch, words, steps, first, h[0], h[1], steps * (passes - 1), (double)h[2] / steps / passes);
          }
  };
  run(walk<0, 0>, 0, 0); run(walk<0, 8>, 0, 8); run(walk<0, 30>, 0, 30); run(walk<0, 64>, 0, 64);
  run(walk<1, 0>, 1, 0); run(walk<1, 8>, 1, 8); run(walk<1, 30>, 1, 30); run(walk<1, 64>, 1, 64);
  run(walk<2, 0>, 2, 0); run(walk<2, 30>, 2, 30);
  run(walk<3, 0>, 3, 0); run(walk<3, 8>, 3, 8); run(walk<3, 30>, 3, 30); run(walk<3, 64>, 3, 64);
  run(walk<4, 0>, 4, 0); run(walk<4, 8>, 4, 8); run(walk<4, 30>, 4, 30); run(walk<4, 64>, 4, 64);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
