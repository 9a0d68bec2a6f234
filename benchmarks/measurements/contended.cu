// Compare-and-swap loops that add doubles to one word of shared or global memory: tries and cycles; flags passed between blocks.
// nvcc -arch=sm_90 -O3 contended.cu && ./a.out
#include <cstdio>
typedef unsigned long long u64;
__device__ u64 word[4];
template <bool SHARED>
__global__ void cas(int repeats, int* tries, int* cycles, double* out) {
  __shared__ u64 here;
  u64* at = SHARED ? &here : &word[0];
  if (SHARED && threadIdx.x == 0) here = 0;
  __syncthreads();
  int n = 0;
  double v = threadIdx.x + 1 + blockIdx.x;
  long long s = clock64();
  for (int r = 0; r < repeats; r++) {
    u64 old = *(volatile u64*)at, seen;
    do { seen = old; old = atomicCAS(at, seen, __double_as_longlong(v + __longlong_as_double(seen))); n++; } while (seen != old);
  }
  long long e = clock64();
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  tries[t] = n, cycles[t] = (int)(e - s);
  if (SHARED) out[t] = __longlong_as_double(here);
}
__global__ void builtin(int repeats, int* cycles, double* out) {  // the compiler's own loop
  __shared__ double here;
  if (threadIdx.x == 0) here = 0;
  __syncthreads();
  long long s = clock64();
  for (int r = 0; r < repeats; r++) atomicAdd(&here, (double)(threadIdx.x + 1));
  long long e = clock64();
  cycles[threadIdx.x] = (int)(e - s);
  __syncthreads();
  out[threadIdx.x] = here;
}
// flags: blocks pass a number round; how they publish and wait
__device__ volatile int flag[132 * 32];
__device__ int data_[132 * 1024];
template <int KIND>
__global__ void chain(int links, int stores, long long* cycles) {
  int me = blockIdx.x, n = gridDim.x;
  long long s = clock64();
  for (int r = 0; r < links; r++) {
    int want = r + (me == 0 ? 0 : 1), prev = (me + n - 1) % n;
    if (threadIdx.x == 0) {
      int* f = (int*)&flag[prev * 32];
      if (KIND == 0) while (*(volatile int*)f < want) {}
      if (KIND == 1) while (atomicAdd(f, 0) < want) {}
      if (KIND == 2) { int x; do asm volatile("ld.acquire.gpu.s32 %0,[%1];" : "=r"(x) : "l"(f) : "memory"); while (x < want); }
      if (KIND == 3) while (*(volatile int*)f < want) __nanosleep(20);
    }
    __syncthreads();
    for (int k = 0; k < stores; k++) data_[me * 1024 + k * 32 + threadIdx.x % 32] = r;
    __syncthreads();
    if (threadIdx.x == 0) {
      int* f = (int*)&flag[me * 32];
      if (KIND == 0 || KIND == 3) { __threadfence(); *(volatile int*)f = r + 1; }
      if (KIND == 1) { __threadfence(); atomicExch(f, r + 1); }
      if (KIND == 2) asm volatile("st.release.gpu.s32 [%0],%1;" ::"l"(f), "r"(r + 1) : "memory");
    }
  }
  if (threadIdx.x == 0) cycles[me] = clock64() - s;
}
// locks: all blocks (or all warps of them) take one lock, or one of many, and change a word
template <int KIND>
__global__ void locks(int* lock, int mask, int repeats, volatile int* value, int* tries, long long* cycles) {
  int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, n = 0;
  long long s = clock64();
  if (threadIdx.x % 32 == 0)
    for (int r = 0; r < repeats; r++) {
      int k = ((w * 7919 + r * 104729) & mask) * 32;
      while (atomicCAS(&lock[k], 0, 1) != 0) { n++; if (KIND == 1) __nanosleep(50); }
      __threadfence();
      value[k] = value[k] + 1;
      __threadfence();
      if (KIND == 2) *(volatile int*)&lock[k] = 0; else atomicExch(&lock[k], 0);
    }
  if (threadIdx.x % 32 == 0) tries[w] = n, cycles[w] = clock64() - s;
}
// a fence after so many stores of a warp; a volatile load; an atomic with its result
__global__ void single(int* a, int stores, int other, long long* cycles) {
  if (threadIdx.x < 32) {
    long long t[5];
    for (int r = 0; r < 3; r++) {
      for (int k = 0; k < stores; k++) a[(blockIdx.x * 64 + k) * 32 + threadIdx.x] = r;
      t[0] = clock64(); __threadfence(); t[1] = clock64();
      int x = ((volatile int*)a)[blockIdx.x * 2048 + 64 * 32]; if (x == 7) a[0] = 1; t[2] = clock64();
      x = atomicAdd(&a[blockIdx.x * 2048 + 64 * 32 + threadIdx.x % 1], 1); if (x == -7) a[0] = 1; t[3] = clock64();
      __threadfence(); t[4] = clock64();
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) for (int k = 0; k < 4; k++) cycles[k] = t[k + 1] - t[k];
  } else for (int k = 0; k < other; k++) a[(4096 + blockIdx.x * 64 + k % 64) * 32 + threadIdx.x] = k;
}
int main() {
  int *tries, *cycles, *lock, *value; double* out; long long* long_; 
  cudaMalloc(&tries, 1 << 20); cudaMalloc(&cycles, 1 << 20); cudaMalloc(&out, 1 << 20); cudaMalloc(&long_, 1 << 20); cudaMalloc(&lock, 1 << 22); cudaMalloc(&value, 1 << 22);
  static int ht[1 << 16], hc[1 << 16]; static long long hl[4096];
  printf("trial,blocks,threads,repeats,parameter,tries_a_warp_pass,cycles,cycles_max\n");
  for (int shared = 0; shared < 2; shared++)
    for (int blocks : {1, 4, 32})
      for (int threads : {1, 2, 8, 32, 64, 128, 256, 1024}) {
        if (shared && blocks > 1) continue;
        if (!shared && blocks * threads > 4096) continue;
        int repeats = threads > 64 ? 2 : 8;
        for (int k = 0; k < 2; k++) if (shared) cas<true><<<blocks, threads>>>(repeats, tries, cycles, out); else cas<false><<<blocks, threads>>>(repeats, tries, cycles, out);
        cudaMemcpy(ht, tries, blocks * threads * 4, cudaMemcpyDeviceToHost); cudaMemcpy(hc, cycles, blocks * threads * 4, cudaMemcpyDeviceToHost);
        double warp = 0, mean = 0; int most = 0, warps = 0;
        for (int w = 0; w < blocks * threads; w += threads < 32 ? threads : 32) { int m = 0, c = 0; for (int t = w; t < w + 32 && t < w / threads * threads + threads; t++) m = ht[t] > m ? ht[t] : m, c = hc[t] > c ? hc[t] : c; warp += m; mean += c; most = c > most ? c : most; warps++; }
        printf("%s,%d,%d,%d,0,%.2f,%.1f,%d\n", shared ? "cas_shared" : "cas_global", blocks, threads, repeats, warp / warps / repeats, mean / warps, most);
      }
  for (int threads : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
    for (int k = 0; k < 2; k++) builtin<<<1, threads>>>(4, cycles, out);
    cudaMemcpy(hc, cycles, threads * 4, cudaMemcpyDeviceToHost);
    int most = 0; double mean = 0; for (int t = 0; t < threads; t++) mean += hc[t], most = hc[t] > most ? hc[t] : most;
    printf("builtin_shared,1,%d,4,0,0,%.1f,%d\n", threads, mean / threads, most);
  }
  int zero[132 * 32] = {};
  for (int kind = 0; kind < 4; kind++)
    for (int blocks : {2, 8, 32, 132})
      for (int stores : {0, 8}) {
        cudaMemcpyToSymbol(flag, zero, sizeof zero);
        int links = 20;
        void* f[] = {(void*)chain<0>, (void*)chain<1>, (void*)chain<2>, (void*)chain<3>};
        void* args[] = {&links, &stores, &long_};
        cudaLaunchKernel(f[kind], dim3(blocks), dim3(32), args, 0, 0);
        cudaMemcpy(hl, long_, blocks * 8, cudaMemcpyDeviceToHost);
        long long most = 0; for (int b = 0; b < blocks; b++) most = hl[b] > most ? hl[b] : most;
        printf("chain_%s,%d,32,%d,%d,0,%.1f,%lld\n", kind == 0 ? "volatile" : kind == 1 ? "atomic" : kind == 2 ? "acquire" : "sleep", blocks, links, stores, (double)most / links / blocks, most);
      }
  for (int kind = 0; kind < 3; kind++)
    for (int blocks : {1, 4, 32, 132})
      for (int threads : {32, 256})
        for (int mask : {0, 15, 1023}) {
          if (blocks * threads > 8192 && mask == 0) continue;
          int repeats = 4;
          cudaMemset(lock, 0, 1 << 22);
          for (int k = 0; k < 2; k++) {
            if (kind == 0) locks<0><<<blocks, threads>>>(lock, mask, repeats, value, tries, long_);
            if (kind == 1) locks<1><<<blocks, threads>>>(lock, mask, repeats, value, tries, long_);
            if (kind == 2) locks<2><<<blocks, threads>>>(lock, mask, repeats, value, tries, long_);
          }
          int warps = blocks * threads / 32;
          cudaMemcpy(ht, tries, warps * 4, cudaMemcpyDeviceToHost); cudaMemcpy(hl, long_, warps * 8, cudaMemcpyDeviceToHost);
          long long most = 0; double all = 0, n = 0; for (int w = 0; w < warps; w++) n += ht[w], all += hl[w], most = hl[w] > most ? hl[w] : most;
          printf("lock_%s,%d,%d,%d,%d,%.2f,%.1f,%lld\n", kind == 0 ? "exchange" : kind == 1 ? "sleep" : "store", blocks, threads, repeats, mask, n / warps / repeats, all / warps / repeats, most);
        }
  for (int blocks : {1, 132})
    for (int stores : {0, 1, 8, 32})
      for (int other : {0, 400}) {
        for (int k = 0; k < 2; k++) single<<<blocks, other ? 256 : 32>>>(lock, stores, other, long_);
        cudaMemcpy(hl, long_, 32, cudaMemcpyDeviceToHost);
        const char* n[] = {"fence_after_stores", "volatile_load", "atomic_result", "fence_again"};
        for (int k = 0; k < 4; k++) printf("%s,%d,%d,%d,%d,0,%lld,%lld\n", n[k], blocks, other ? 256 : 32, stores, other, hl[k], hl[k]);
      }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
