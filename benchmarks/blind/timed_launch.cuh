// Times of a launch: cold, L2 swept by reading before each; median, second lowest and second highest of ROUNDS (by
// default one launch, for a profiler).  Buffers full of numbers like noise.
#pragma once
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void sweep_l2(const float4* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 0.123f) *y = sum;
}

// Numbers like noise between -0.5 and 0.5, of small whole numbers where T is an integer.
template <class T>
__global__ void noise(T* x, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * size_t(blockDim.x)) {
    unsigned h = unsigned(i) * 2654435761u + seed;
    h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
    if constexpr (std::is_integral_v<T>) x[i] = T(int(h % 19) - 9);
    else x[i] = T(float(h >> 8) / 16777216.0f - 0.5f);
  }
}

template <class T>
T* filled(size_t n, unsigned seed) {
  T* x;
  cudaMalloc(&x, n * sizeof(T) + 256);
  noise<<<264, 256>>>(x, n, seed);
  return x;
}

template <class Launch>
void timed(const char* name, Launch launch) {
  int rounds = getenv("ROUNDS") ? atoi(getenv("ROUNDS")) : 1;
  if (rounds == 1) {
    launch();
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s,%s\n", name, cudaGetErrorString(e));
    return;
  }
  float4* big; float* out;
  int n = (512 << 20) / 16;
  cudaMalloc(&big, 512 << 20), cudaMalloc(&out, 4), cudaMemset(big, 0, 512 << 20);
  cudaEvent_t a, b;
  cudaEventCreate(&a), cudaEventCreate(&b);
  launch();
  cudaDeviceSynchronize();
  std::vector<float> cold;
  for (int i = 0; i < rounds; i++) {
    sweep_l2<<<528, 256>>>(big, out, n);
    cudaEventRecord(a), launch(), cudaEventRecord(b), cudaEventSynchronize(b);
    float ms;
    cudaEventElapsedTime(&ms, a, b), cold.push_back(1000 * ms);
  }
  std::sort(cold.begin(), cold.end());
  printf("%s,%s,%.3f,%.3f,%.3f\n", name, cudaGetErrorString(cudaGetLastError()), cold[rounds / 2], cold[1],
         cold[rounds - 2]);
}
