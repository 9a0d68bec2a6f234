#include <cstdio>
#include <vector>
#include <chrono>
__constant__ float scale; __device__ int hits; __managed__ int mm = 5;
__global__ void saxpy(int n, float a, const float* x, float* y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { y[i] = a * scale * x[i] + y[i]; if (i % 1000 == 0) atomicAdd(&hits, 1);} if (i==0) { printf("hello from %d\n", n); mm++; } }
template <class T> __global__ void fill(T* p, T v, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = v; }
#define OK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)
int main() {
  int n = 1 << 16; std::vector<float> x(n, 1.f), y(n, 2.f);
  float *dx, *dy; OK(cudaMalloc(&dx, 4 * n)); OK(cudaMalloc(&dy, 4 * n));
  OK(cudaMemcpy(dx, x.data(), 4 * n, cudaMemcpyHostToDevice)); OK(cudaMemcpy(dy, y.data(), 4 * n, cudaMemcpyHostToDevice));
  float s = 3.f; OK(cudaMemcpyToSymbol(scale, &s, 4));
  cudaDeviceProp p; OK(cudaGetDeviceProperties(&p, 0)); printf("%s %d SMs cc %d.%d\n", p.name, p.multiProcessorCount, p.major, p.minor);
  cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
  auto t0 = std::chrono::steady_clock::now();
  cudaEventRecord(a);
  for (int k = 0; k < 10; k++) fill<float><<<n / 256, 256>>>(dx, 1.f, n);
  cudaEventRecord(b); cudaDeviceSynchronize();
  auto t1 = std::chrono::steady_clock::now();
  float ms; OK(cudaEventElapsedTime(&ms, a, b)); printf("fill: events %.4f ms, chrono %.4f ms\n", ms, std::chrono::duration<double, std::milli>(t1 - t0).count());
  saxpy<<<n / 256, 256>>>(n, 2.f, dx, dy); OK(cudaGetLastError());
  OK(cudaMemcpy(y.data(), dy, 4 * n, cudaMemcpyDeviceToHost));
  int h; OK(cudaMemcpyFromSymbol(&h, hits, 4)); bool good = h == 66 && mm == 6; for (float v : y) good &= v == 8.f;
  int blocks; OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, 256, 0)); printf("occupancy %d, managed %d\n", blocks, mm);
  int g, bs; OK(cudaOccupancyMaxPotentialBlockSize(&g, &bs, saxpy)); printf("best %d %d\n", g, bs);
  saxpy<<<1, 2048>>>(n, 2.f, dx, dy); printf("bad launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  puts(good ? "PASS" : "FAIL"); return good ? 0 : 3; }
