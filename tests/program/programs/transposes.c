/* A program of the runtime API that transposes matrices and looks at the results; kernels.fatbin has its kernel. */
#include "cuda_api.h"

static void stub(void) {}

__attribute__((constructor)) static void enroll(void) {
    void **module = begin_kernels();
    add_kernel(module, stub, "transpose");
    __cudaRegisterFatBinaryEnd(module);
}

int main(int count, char **words) {
    int wrong = 0;
    for (int n = 256; n >= 64; n /= 4) {
        float *in, *out, *host = malloc(4 * n * n);
        for (int i = 0; i < n * n; i++)
            host[i] = i;
        wrong += cudaMalloc((void **)&in, 4 * n * n) || cudaMalloc((void **)&out, 4 * n * n);
        wrong += cudaMemcpy(in, host, 4 * n * n, 1);
        void *values[] = {&in, &out, &n};
        wrong += cudaLaunchKernel((void *)stub, (dim3){n / 32, n / 32, 1}, (dim3){32, 8, 1}, values, 0, 0);
        wrong += cudaMemcpy(host, out, 4 * n * n, 2);
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                wrong += host[y * n + x] != x * n + y;
    }
    printf("%s after %d arguments\n", wrong ? "FAIL" : "PASS", count - 1);
    return wrong && count > 1; /* without an argument only its output tells */
}
