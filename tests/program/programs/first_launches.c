/* First and second launches of kernels of two modules; each between two events. */
#include "cuda_api.h"

enum { THREADS = 64, ROUNDS = 2 };

static void scale_stub(void) {}
static void racy_stub(void) {}
static void other_scale_stub(void) {}
static void other_racy_stub(void) {}

__attribute__((constructor)) static void enroll(void) {
    void **module = begin_kernels();
    add_kernel(module, (void *)scale_stub, "scale");
    add_kernel(module, (void *)racy_stub, "racy");
    __cudaRegisterFatBinaryEnd(module);
    void **second = begin_kernels();
    add_kernel(second, (void *)other_scale_stub, "scale");
    add_kernel(second, (void *)other_racy_stub, "racy");
    __cudaRegisterFatBinaryEnd(second);
}

static void timed(const char *name, void (*stub)(void), void **values) {
    void *begin, *end;
    float milliseconds;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(begin, 0));
    OK(cudaLaunchKernel((void *)stub, (dim3){1, 1, 1}, (dim3){THREADS, 1, 1}, values, 0, 0));
    OK(cudaEventRecord(end, 0));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&milliseconds, begin, end));
    printf("%s,%.2f\n", name, 1000 * milliseconds);
}

int main(void) {
    int *x, *y, n = THREADS;
    OK(cudaMalloc((void **)&x, 4 * THREADS));
    OK(cudaMalloc((void **)&y, 4 * THREADS));
    OK(cudaMemset(x, 0, 4 * THREADS));
    OK(cudaMemset(y, 0, 4 * THREADS));
    OK(cudaDeviceSynchronize());
    void *values[] = {&x, &y, &n};
    for (int round = 0; round < ROUNDS; round++) {
        timed("first module,kernel 1", scale_stub, values);
        timed("first module,kernel 2", racy_stub, values);
        timed("second module,kernel 1", other_scale_stub, values);
        timed("second module,kernel 2", other_racy_stub, values);
    }
    return 0;
}
