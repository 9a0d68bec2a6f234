// Floats and doubles added to shared memory by compare-and-swap loops: warps, words, and how lanes choose a word; chains of
// blocks with and without fence.  nvcc -arch=sm_90 -O3 -std=c++17 shared_adds.cu && ./a.out
#include <cstdio>
template <typename T> __global__ void add(int repeats, int words, int mode, int* cycles, T* out) {
  extern __shared__ char room[];
  T* s = (T*)room;
  for (int k = threadIdx.x; k < words; k += blockDim.x) s[k] = 0;
  __syncthreads();
  unsigned h = threadIdx.x * 2654435761u + blockIdx.x * 977 + 12345;
  long long t = clock64();
  for (int r = 0; r < repeats; r++) {
    h = h * 1664525u + 1013904223u;
    int k = mode == 0 ? 0 : mode == 1 ? (h >> 10) % words : mode == 2 ? threadIdx.x / 32 % words : threadIdx.x % words;
    atomicAdd(&s[k], (T)1);
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - t;
  for (int k = threadIdx.x; k < words; k += blockDim.x) out[k] = s[k];
}
__device__ volatile int flag[132 * 32];
__device__ int data_[132 * 1024];
template <int FENCE, int SYNC>
__global__ void chain(int links, int stores, long long* cycles) {
  int me = blockIdx.x, n = gridDim.x;
  long long s = clock64();
  for (int r = 0; r < links; r++) {
    int want = r + (me == 0 ? 0 : 1), prev = (me + n - 1) % n;
    if (threadIdx.x == 0) while (flag[prev * 32] < want) {}
    if (SYNC) __syncthreads();
    for (int k = 0; k < stores; k++) data_[me * 1024 + k * 32 + threadIdx.x] = r;
    if (SYNC) __syncthreads();
    if (threadIdx.x == 0) { if (FENCE) __threadfence(); flag[me * 32] = r + 1; }
  }
  if (threadIdx.x == 0) cycles[me] = clock64() - s;
}
int main() {
  int *cycles, h[132]; double* out; long long *l, hl[132];
  cudaMalloc(&cycles, 4096); cudaMalloc(&out, 1 << 20); cudaMalloc(&l, 4096);
  printf("what,blocks,threads,repeats,words,choice,cycles\n");
  for (int d = 0; d < 2; d++)
    for (int blocks : {1, 132})
      for (int threads : {32, 64, 128, 256, 512, 1024})
        for (int c = 0; c < 7; c++) {
          int words[] = {1, 32, 256, 4096, 32, 32, 256}, mode[] = {0, 1, 1, 1, 2, 3, 3}, repeats = 8;
          if (blocks > 1 && threads != 256) continue;
          for (int k = 0; k < 2; k++)
            if (d) add<double><<<blocks, threads, words[c] * 8>>>(repeats, words[c], mode[c], cycles, out);
            else add<float><<<blocks, threads, words[c] * 4>>>(repeats, words[c], mode[c], cycles, (float*)out);
          cudaMemcpy(h, cycles, 4 * blocks, cudaMemcpyDeviceToHost);
          const char* n[] = {"one", "any", "warp", "lane"};
          printf("%s,%d,%d,%d,%d,%s,%d\n", d ? "double" : "float", blocks, threads, repeats, words[c], n[mode[c]], h[0]);
        }
  int zero[132 * 32] = {};
  for (int f = 0; f < 4; f++)
    for (int blocks : {8, 132})
      for (int stores : {0, 1, 8}) {
        cudaMemcpyToSymbol(flag, zero, sizeof zero);
        int links = 20; void* args[] = {&links, &stores, &l};
        void* k[] = {(void*)chain<0, 0>, (void*)chain<0, 1>, (void*)chain<1, 0>, (void*)chain<1, 1>};
        cudaLaunchKernel(k[f], dim3(blocks), dim3(32), args, 0, 0);
        cudaMemcpy(hl, l, 8 * blocks, cudaMemcpyDeviceToHost);
        long long most = 0; for (int b = 0; b < blocks; b++) most = hl[b] > most ? hl[b] : most;
        printf("chain%s%s,%d,32,%d,%d,,%.0f\n", f & 1 ? "_barriers" : "", f & 2 ? "_fence" : "", blocks, links, stores, (double)most / links / blocks);
      }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
