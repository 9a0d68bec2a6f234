/* A program of the runtime API, with the calls that nvcc generates written by hand; kernels.fatbin has its kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    unsigned x, y, z;
} dim3;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **module);
void __cudaRegisterFunction(void **module, const char *host, char *stub, const char *name, int limit, void *thread,
                            void *block, void *block_size, void *grid_size, int *warp);
void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int external, size_t size, int constant,
                       int global);
int __cudaGetKernel(void **kernel, const void *host);
int __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **values, size_t shared, void *stream);
int cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **values, size_t shared, void *stream);
int cudaMalloc(void **pointer, size_t size);
int cudaMallocManaged(void **pointer, size_t size, unsigned flags);
int cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t size, int kind);
int cudaMallocHost(void **pointer, size_t size);
int cudaFreeHost(void *pointer);
int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);
int cudaMemset(void *to, int value, size_t size);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset, int kind);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
int cudaStreamCreate(void **stream);
int cudaEventCreate(void **event);
int cudaEventRecord(void *event, void *stream);
int cudaEventElapsedTime(float *milliseconds, void *first, void *last);
const char *cudaGetErrorName(int error);
int cudaImportExternalMemory(void **memory, const void *described);

extern const char kernels[];
__asm__(".section .rodata\n.balign 16\n.globl kernels\nkernels:\n.incbin \"kernels.fatbin\"\n.previous\n");

static struct {
    int magic, version;
    const void *data;
    void *more;
} wrapper = {0x466243b1, 1, kernels, 0};

static float factor_shadow;
static void scale_stub(void) {}
static void stray_stub(void) {}
static void endless_stub(void) {}
static void racy_stub(void) {}

__attribute__((constructor)) static void enroll(void) {
    void **module = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(module, (char *)scale_stub, "scale", "scale", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(module, (char *)stray_stub, "stray", "stray", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(module, (char *)endless_stub, "endless", "endless", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(module, (char *)racy_stub, "racy", "racy", -1, 0, 0, 0, 0, 0);
    __cudaRegisterVar(module, (char *)&factor_shadow, "factor", "factor", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(module);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int scaled(void) {
    enum { N = 1 << 16 };
    float *x, *managed, host[4], factor = 3;
    void *kernel, *begin, *end;
    int n = N, wrong = 0;
    wrong += cudaMalloc((void **)&x, 4 * N) || cudaMallocManaged((void **)&managed, 4 * N, 1);
    wrong += cudaMemset(x, 0, 4 * N) || cudaMemcpyToSymbol(&factor_shadow, &factor, 4, 0, 1);
    for (int i = 0; i < N; i++)
        managed[i] = i;
    wrong += cudaEventCreate(&begin) || cudaEventCreate(&end) || __cudaGetKernel(&kernel, (void *)scale_stub);
    void *values[] = {&managed, &x, &n};
    double before = seconds();
    cudaEventRecord(begin, 0);
    for (int k = 0; k < 4; k++)
        wrong += __cudaLaunchKernel(kernel, (dim3){N / 256, 1, 1}, (dim3){256, 1, 1}, values, 0, 0);
    cudaEventRecord(end, 0);
    wrong += cudaDeviceSynchronize();
    double host_us = 1e6 * (seconds() - before);
    float ms = 0;
    wrong += cudaEventElapsedTime(&ms, begin, end) || cudaMemcpy(host, x + 100, 16, 2);
    for (int i = 0; i < 4; i++)
        wrong += host[i] != 4 * 3 * (100 + i);
    printf("%s events %.3f host %.3f\n", wrong ? "FAIL" : "PASS", 1000 * ms, host_us);
    void *memory;
    printf("memory %d\n", cudaImportExternalMemory(&memory, 0));
    cudaGetLastError();
    printf("too many %s\n", cudaGetErrorName(cudaLaunchKernel((void *)scale_stub, (dim3){1, 1, 1}, (dim3){2048, 1, 1}, values, 0, 0)));
    printf("last %s", cudaGetErrorName(cudaGetLastError()));
    printf(" then %s\n", cudaGetErrorName(cudaGetLastError()));
    wrong += cudaFree(x) || cudaFree(managed);
    printf("freed twice %s\n", cudaGetErrorName(cudaFree(x)));
    return wrong;
}

/* Launches that repeat others exactly: a fill and a sum onto it, over and over. */
static int repeated(void) {
    enum { N = 1 << 12, ROUNDS = 2000 };
    float *x, *y, host[4], factor = 2;
    int n = N, wrong = 0;
    wrong += cudaMalloc((void **)&x, 4 * N) || cudaMalloc((void **)&y, 4 * N);
    wrong += cudaMemset(x, 0x3f, 4 * N) || cudaMemcpyToSymbol(&factor_shadow, &factor, 4, 0, 1);
    void *values[] = {&x, &y, &n};
    for (int k = 0; k < ROUNDS; k++) {
        wrong += cudaMemset(y, 0, 4 * N);
        wrong += cudaLaunchKernel((void *)scale_stub, (dim3){N / 256, 1, 1}, (dim3){256, 1, 1}, values, 0, 0);
    }
    wrong += cudaMemcpy(host, y, 16, 2);
    float once = host[3];
    wrong += cudaLaunchKernel((void *)scale_stub, (dim3){N / 256, 1, 1}, (dim3){256, 1, 1}, values, 0, 0);
    wrong += cudaMemcpy(host, y, 16, 2);
    printf("%s\n", !wrong && once > 1 && host[3] == 2 * once ? "PASS" : "FAIL");
    return wrong;
}

/* Copies into the GPU and out of it on two streams, side by side; events on the default stream include both. */
static int overlapped(void) {
    enum { SIZE = 1 << 24 };
    void *device[2], *host[2], *stream[2], *begin, *end;
    int wrong = cudaEventCreate(&begin) || cudaEventCreate(&end);
    for (int n = 0; n < 2; n++)
        wrong += cudaMalloc(&device[n], SIZE) || cudaMallocHost(&host[n], SIZE) || cudaStreamCreate(&stream[n]);
    float ms = 0;
    wrong += cudaEventRecord(begin, 0);
    wrong += cudaMemcpyAsync(device[0], host[0], SIZE, 1, stream[0]);
    wrong += cudaMemcpyAsync(host[1], device[1], SIZE, 2, stream[1]);
    wrong += cudaEventRecord(end, 0) || cudaDeviceSynchronize() || cudaEventElapsedTime(&ms, begin, end);
    printf("%s %.1f\n", wrong ? "FAIL" : "PASS", 1000 * ms);
    return wrong;
}

static int strayed(size_t bytes) {
    int *x;
    cudaMalloc((void **)&x, bytes);
    void *values[] = {&x};
    printf("launch %d", cudaLaunchKernel((void *)stray_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, values, 0, 0));
    printf(" synchronize %s", cudaGetErrorName(cudaDeviceSynchronize()));
    printf(" malloc %s\n", cudaGetErrorName(cudaMalloc((void **)&x, 16)));
    return 0;
}

static int waited(void) {
    int *x;
    cudaMalloc((void **)&x, 4);
    cudaMemset(x, 0, 4);
    void *values[] = {&x};
    cudaLaunchKernel((void *)endless_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, values, 0, 0);
    printf("synchronize %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

/* Mistakes, for --check; each in a program of its own. */
static int mistaken(const char *what) {
    enum { N = 1000 };
    static float host[N + 1];
    float *x, *y;
    int n = N, wrong = cudaMalloc((void **)&x, 4 * N) || cudaMalloc((void **)&y, 4 * N) || cudaMemset(y, 0, 4 * N);
    void *values[] = {&x, &y, &n}, *pointer = &host;
    if (strcmp(what, "unwritten"))
        wrong += cudaMemset(x, 0, 4 * N);
    if (!strcmp(what, "misdirected"))
        wrong += cudaMemcpy(x, y, 16, 1); /* from host to device */
    if (!strcmp(what, "refused"))
        wrong += !cudaMemcpy(host, host + 1, 16, 2); /* from device to host */
    if (!strcmp(what, "unasked"))
        cudaLaunchKernel((void *)scale_stub, (dim3){1, 1, 1}, (dim3){2048, 1, 1}, values, 0, 0);
    if (!strcmp(what, "freed"))
        wrong += cudaFree(x) || cudaMalloc(&pointer, 4 * N);
    if (!strcmp(what, "host"))
        values[0] = &pointer;
    if (!strcmp(what, "beyond"))
        n = N + 1;
    if (!strcmp(what, "racy"))
        wrong += cudaLaunchKernel((void *)racy_stub, (dim3){1, 1, 1}, (dim3){64, 1, 1}, values, 0, 0);
    wrong += cudaLaunchKernel((void *)scale_stub, (dim3){4, 1, 1}, (dim3){256, 1, 1}, values, 0, 0);
    if (!strcmp(what, "early") || !strcmp(what, "waited")) {
        float *managed, *pinned, seen = 0;
        wrong += cudaMallocManaged((void **)&managed, 4 * N, 1) || cudaMallocHost((void **)&pinned, 4 * N);
        memset(managed, 0, 4 * N);
        values[1] = &managed;
        wrong += cudaLaunchKernel((void *)scale_stub, (dim3){4, 1, 1}, (dim3){256, 1, 1}, values, 0, 0);
        if (!strcmp(what, "waited"))
            cudaDeviceSynchronize();
        seen += managed[7];
        wrong += cudaMemcpyAsync(pinned, y, 4 * N, 2, 0);
        if (!strcmp(what, "waited"))
            cudaDeviceSynchronize();
        wrong += seen + pinned[7] != 0;
        wrong += cudaFree(managed) || cudaFreeHost(pinned);
    }
    if (!strcmp(what, "unsynchronized"))
        return cudaLaunchKernel((void *)stray_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, values, 0, 0);
    cudaDeviceSynchronize();
    if (strcmp(what, "leak"))
        cudaFree(x), cudaFree(y);
    if (!strcmp(what, "freed"))
        cudaFree(pointer);
    return wrong;
}

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "abort")) {
        cudaDeviceSynchronize();
        abort();
    }
    if (count > 2 && !strcmp(words[1], "mistake"))
        return mistaken(words[2]);
    if (count > 1 && !strcmp(words[1], "repeat"))
        return repeated();
    if (count > 1 && !strcmp(words[1], "endless"))
        return waited();
    if (count > 1 && !strcmp(words[1], "streams"))
        return overlapped();
    return count > 1 ? strayed(!strcmp(words[1], "near") ? 2 << 20 : 4096) : scaled();
}
