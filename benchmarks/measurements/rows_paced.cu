// Rows that are changed in place, with pauses: cycles a step of a warp whose lanes load a word of a row of their own and
// store it again, by the pause (multiply-adds of 4 cycles) after the store or between load and store.
// nvcc -arch=sm_90 -O3 -std=c++17 rows_paced.cu && ./a.out
#include <cstdio>
#include <utility>
template <int N> __device__ __forceinline__ float chain(float x) {
  #pragma unroll
  for (int i = 0; i < N; i++) asm volatile("fma.rn.f32 %0,%0,%0,%0;" : "+f"(x));
  return x;
}
template <int AFTER, int BETWEEN, bool SAME>
__global__ void paced(float* a, float* b, int steps, int pitch, int* cycles, float* out) {
  int t = threadIdx.x;
  float *p0 = a + (size_t)t * pitch, *q0 = (SAME ? a : b) + (size_t)t * pitch, v = t, x = t;
  for (int r = 0; r < 3; r++) {
    float *p = p0, *q = q0;
    int s = clock();
    #pragma unroll 1
    for (int i = 0; i < steps; i++) {
      float l;
      asm volatile("ld.global.ca.f32 %0,[%1];" : "=f"(l) : "l"(p) : "memory");
      v = v * 0.5f + l;
      if (BETWEEN) x = chain<BETWEEN>(x + v);
      asm volatile("st.global.f32 [%0],%1;" ::"l"(q), "f"(v) : "memory");
      x = chain<AFTER>(x);
      p++, q++;
    }
    int e = clock();
    if (t == 0) cycles[r] = e - s;
  }
  out[t] = v + x;
}
typedef void (*Paced)(float*, float*, int, int, int*, float*);
struct Row { int after, between; Paced same, other; };
template <int... I> void rows(Row* to, std::integer_sequence<int, I...>) {
  int n = 0;
  ((to[n++] = {I * 2, 0, paced<I * 2, 0, true>, paced<I * 2, 0, false>}, to[n++] = {0, I * 2, paced<0, I * 2, true>, paced<0, I * 2, false>}), ...);
}
int main() {
  float *a, *b, *out; int *c, h[4];
  cudaMalloc(&a, 64 << 20), cudaMalloc(&b, 64 << 20), cudaMalloc(&out, 4096), cudaMalloc(&c, 64);
  cudaMemset(a, 0, 64 << 20), cudaMemset(b, 0, 64 << 20);
  printf("threads,after,between,cycles_in_place,cycles_other_array\n");
  static Row rs[100]; rows(rs, std::make_integer_sequence<int, 48>());
  for (int threads : {1, 4, 8, 16, 24, 28, 32})
    for (int k = 0; k < 96; k++) {
      int v[2];
      for (int o = 0; o < 2; o++) {
        (o ? rs[k].other : rs[k].same)<<<1, threads>>>(a, b, 128, 512, c, out);
        cudaMemcpy(h, c, 12, cudaMemcpyDeviceToHost); v[o] = h[2];
      }
      printf("%d,%d,%d,%.2f,%.2f\n", threads, rs[k].after, rs[k].between, v[0] / 128.0, v[1] / 128.0);
    }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
