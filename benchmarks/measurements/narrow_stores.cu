// Stores of 1, 2 and 4 bytes a lane, one after the other, to local memory and to a global array that is laid out likewise:
// time of a launch; sectors that leave L1 by ncu (l1tex__m_l1tex2xbar_write_sectors.sum).
// nvcc -arch=sm_90 -O3 -std=c++17 narrow_stores.cu && ./a.out
#include <cstdio>
template <typename T, bool LOCAL, bool APART>
__global__ void narrow(T* global, int rounds, T v, int pick, T* out) {
  constexpr int N = 64 / sizeof(T), W = 4 / sizeof(T);  // values of a lane, and those of a word
  volatile T local[N];
  int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  volatile T* g = global + (size_t)warp * 32 * N + lane * W;
  #pragma unroll 1
  for (int r = 0; r < rounds; r++) {
    #pragma unroll
    for (int k = 0; k < N; k++) {
      int at = APART ? k % (N / W) * W + k / (N / W) : k;  // apart: first the first value of each word
      if (LOCAL) local[at] = v + k;
      else g[at / W * 32 * W + at % W] = v + k;
    }
    v += r;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = LOCAL ? local[pick % N] : v;
}
template <typename T, bool LOCAL, bool APART> void run(void* g, void* out, bool once) {
  cudaEvent_t s, e; cudaEventCreate(&s), cudaEventCreate(&e);
  for (int warps : {4, 16, 32}) {
    float ms, best = 1e9;
    for (int k = 0; k < (once ? 1 : 4); k++) {
      cudaEventRecord(s);
      narrow<T, LOCAL, APART><<<132, warps * 32>>>((T*)g, 16, (T)1, 3, (T*)out);
      cudaEventRecord(e), cudaEventSynchronize(e), cudaEventElapsedTime(&ms, s, e);
      best = ms < best ? ms : best;
    }
    printf("%s,%s,%d,%d,%d,16,%.2f\n", LOCAL ? "local" : "global", APART ? "apart" : "in_a_row", (int)sizeof(T), 132, warps, best * 1e3);
  }
}
int main(int argc, char**) {
  void *g, *out; cudaMalloc(&g, 64 << 20), cudaMalloc(&out, 4 << 20);
  bool once = argc > 1;
  printf("memory,order,bytes,blocks,warps,rounds,us\n");
  run<unsigned char, true, false>(g, out, once), run<unsigned char, true, true>(g, out, once);
  run<unsigned char, false, false>(g, out, once), run<unsigned char, false, true>(g, out, once);
  run<unsigned short, false, false>(g, out, once), run<unsigned, false, false>(g, out, once);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
