// First launches: what loading a module and a kernel costs, on the host's clock and by events.
//
//     nvcc -O2 -arch=sm_90 -DFIRST -c first_launches.cu -o first.o
//     nvcc -O2 -arch=sm_90 -c first_launches.cu -o second.o && nvcc -arch=sm_90 first.o second.o -o first_launches
//     ./first_launches; CUDA_MODULE_LOADING=EAGER ./first_launches
#ifdef FIRST
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>
template <int N> __global__ void kernel(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * N + 1;
}
extern __global__ void other(float *x, int n);
extern __global__ void another(float *x, int n);
static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
template <class F> void timed(const char *name, F launch) {
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    cudaEventRecord(a); cudaEventSynchronize(a);
    double t0 = now(); cudaEventRecord(a); launch(); double t1 = now(); cudaEventRecord(b); cudaEventSynchronize(b); double t2 = now();
    float ms; cudaEventElapsedTime(&ms, a, b);
    printf("%s,%.2f,%.2f,%.2f\n", name, t1 - t0, t2 - t0, ms * 1000);
}
int main() {
    float *x; cudaMalloc(&x, 4096); cudaMemset(x, 0, 4096); cudaDeviceSynchronize();
    printf("launch,host_us,until_done_us,event_us\n");
    for (int r = 0; r < 2; r++) {
        timed("first module, kernel 1", [&] { kernel<1><<<4, 256>>>(x, 1024); });
        timed("first module, kernel 2", [&] { kernel<2><<<4, 256>>>(x, 1024); });
        timed("first module, kernel 3", [&] { kernel<3><<<4, 256>>>(x, 1024); });
        timed("second module, kernel 1", [&] { other<<<4, 256>>>(x, 1024); });
        timed("second module, kernel 2", [&] { another<<<4, 256>>>(x, 1024); });
    }
}
#else
__global__ void other(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = x[i] * 7 + 1; }
__global__ void another(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = x[i] * 9 + 1; }
#endif
