/* Calls that few programs make: batches, values that streams write, libraries of code, older names, copies between arrays. */
#define _GNU_SOURCE
#include "cuda_api.h"

#include <dlfcn.h>

typedef struct {
    int bits[4], kind;
} channel_format;

int cudaMemcpyBatchAsync(void **to, void **from, const size_t *sizes, size_t count, void *attributes, size_t *places,
                         size_t attribute_count, void *stream);
int cudaMemcpyBatchAsync_ptsz(void **to, void **from, const size_t *sizes, size_t count, void *attributes, size_t *places,
                              size_t attribute_count, void *stream);
int cudaMallocManaged(void **pointer, size_t size, unsigned flags);
int cudaMemPrefetchBatchAsync(void **pointers, const size_t *sizes, size_t count, void *locations, size_t *places,
                              size_t location_count, unsigned long long flags, void *stream);
int cudaMemRangeGetAttributes(void **data, size_t *bytes, int *attributes, size_t count, const void *pointer, size_t size);
int cudaMallocArray(void **array, const channel_format *format, size_t width, size_t height, unsigned flags);
int cudaMemcpyToArrayAsync(void *array, size_t x, size_t y, const void *from, size_t bytes, int kind, void *stream);
int cudaMemcpyFromArrayAsync(void *to, void *array, size_t x, size_t y, size_t bytes, int kind, void *stream);
int cudaMemcpy2DArrayToArray(void *to, size_t to_x, size_t to_y, void *from, size_t x, size_t y, size_t width, size_t height,
                             int kind);
int cudaLibraryLoadData(void **library, const void *image, int *a, void **b, unsigned c, int *d, void **e, unsigned f);
int cudaLibraryLoadFromFile(void **library, const char *path, int *a, void **b, unsigned c, int *d, void **e, unsigned f);
int cudaLibraryGetKernel(void **kernel, void *library, const char *name);
int cudaLibraryGetKernelCount(unsigned *count, void *library);
int cudaLibraryEnumerateKernels(void **kernels, unsigned most, void *library);
int cudaLibraryGetGlobal(void **pointer, size_t *size, void *library, const char *name);
int cudaLibraryUnload(void *library);
int cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device);
int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int block);
int cuKernelGetName(const char **name, void *kernel);
int cuStreamWriteValue32_v2(void *stream, unsigned long long address, unsigned value, unsigned flags);
int cuStreamWriteValue64_v2(void *stream, unsigned long long address, unsigned long long value, unsigned flags);
int cuStreamWaitValue32_v2(void *stream, unsigned long long address, unsigned value, unsigned flags);
int cuStreamWaitValue64_v2(void *stream, unsigned long long address, unsigned long long value, unsigned flags);

int cudaDeviceSetCacheConfig(int configuration);
int cudaDeviceGetCacheConfig(int *configuration);
int cudaStreamSetAttribute(void *stream, int attribute, const void *value);
int cudaStreamGetAttribute(void *stream, int attribute, void *value);
int cudaStreamCopyAttributes(void *to, void *from);
int cudaMemGetInfo(size_t *available, size_t *total);

enum { GEQ, EQ, AND, NOR };
enum { SYNCHRONIZATION_POLICY = 3, MEMORY_DOMAIN = 10, NO_ATTRIBUTE = 77, SPIN = 2, PREFER_L1 = 2 };

static void batches(void) {
    int from[4] = {1, 2, 3, 4}, back[4] = {0};
    void *device, *managed;
    OK(cudaMalloc(&device, 16));
    size_t sizes[2] = {8, 8};
    OK(cudaMemcpyBatchAsync((void *[]){device, (int *)device + 2}, (void *[]){from + 2, from}, sizes, 2, NULL, NULL, 0, NULL));
    OK(cudaMemcpyBatchAsync_ptsz((void *[]){back}, (void *[]){device}, (size_t[]){16}, 1, NULL, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    printf("batch %d %d %d %d", back[0], back[1], back[2], back[3]);
    printf(" none %s\n", cudaGetErrorName(cudaMemcpyBatchAsync(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL)));
    OK(cudaMallocManaged(&managed, 64, 1));
    OK(cudaMemPrefetchBatchAsync(&managed, (size_t[]){64}, 1, NULL, NULL, 0, 0, NULL));
    int mostly_read = 7, wanted = 7;
    OK(cudaMemRangeGetAttributes((void *[]){&mostly_read, &wanted}, (size_t[]){4, 4}, (int[]){1, 2}, 2, managed, 64));
    printf("range %d %d\n", mostly_read, wanted);
}

static void values(void) {
    void *memory;
    unsigned long long found[2];
    OK(cudaMalloc(&memory, 16));
    unsigned long long address = (unsigned long long)memory;
    OK(cudaMemset(memory, 0, 16));
    OK(cuStreamWriteValue32_v2(NULL, address, 5, 0));
    OK(cuStreamWriteValue64_v2(NULL, address + 8, 1ull << 40 | 9, 0));
    OK(cuStreamWaitValue32_v2(NULL, address, 5, GEQ));
    OK(cuStreamWaitValue32_v2(NULL, address, 5, EQ));
    OK(cuStreamWaitValue32_v2(NULL, address, 4, AND));
    OK(cuStreamWaitValue64_v2(NULL, address + 8, 1ull << 40, GEQ));
    OK(cudaMemcpy(found, memory, 16, 2));
    printf("values %llu %llx", found[0], found[1]);
    printf(" misaligned %s", cudaGetErrorName(cuStreamWriteValue32_v2(NULL, address + 2, 5, 0)));
    printf(" for ever %s\n", cudaGetErrorName(cuStreamWaitValue32_v2(NULL, address, 6, EQ)));
}

static void arrays(void) {
    channel_format format = {{32, 0, 0, 0}, 0};
    int from[12], to[12] = {0};
    void *a, *b;
    for (int n = 0; n < 12; n++)
        from[n] = n;
    OK(cudaMallocArray(&a, &format, 4, 3, 0));
    OK(cudaMallocArray(&b, &format, 4, 3, 0));
    OK(cudaMemcpyToArrayAsync(a, 0, 0, from, sizeof from, 1, NULL));
    OK(cudaMemcpyToArrayAsync(b, 0, 0, to, sizeof to, 1, NULL));
    OK(cudaMemcpy2DArrayToArray(b, 4, 1, a, 8, 0, 8, 2, 3));
    OK(cudaMemcpyFromArrayAsync(to, b, 0, 0, sizeof to, 2, NULL));
    printf("arrays");
    for (int n = 0; n < 12; n++)
        printf(" %d", to[n]);
    printf("\n");
}

/* kernels.fatbin again, from its file. */
static void libraries(void) {
    void *library, *kernel, *all[4], *variable, *x;
    unsigned count;
    size_t size, free_shared;
    const char *names[2];
    OK(cudaLibraryLoadFromFile(&library, "kernels.fatbin", NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernelCount(&count, library));
    OK(cudaLibraryEnumerateKernels(all, 4, library));
    for (int n = 0; n < 2; n++)
        OK(cuKernelGetName(&names[n], all[n]));
    printf("kernels %u %s %s\n", count, names[strcmp(names[0], names[1]) > 0], names[strcmp(names[0], names[1]) < 0]);
    OK(cudaLibraryGetKernel(&kernel, library, "add"));
    OK(cudaLibraryGetGlobal(&variable, &size, library, "step"));
    OK(cudaMemcpy(variable, &(int){30}, 4, 1));
    OK(cudaKernelSetAttributeForDevice(kernel, 8, 100 << 10, 0));
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&free_shared, kernel, 2, 64));
    OK(cudaMalloc(&x, 4));
    OK(cudaMemset(x, 0, 4));
    void *arguments[] = {&x};
    OK(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL));
    int found;
    OK(cudaMemcpy(&found, x, 4, 2));
    printf("variable of %zu bytes, added %d, shared %zu\n", size, found, free_shared >> 10);
    OK(cudaLibraryUnload(library));
    printf("missing %s\n", cudaGetErrorName(cudaLibraryGetKernel(&kernel, library, "add")));
}

/* As programs do that use the driver by ctypes. */
static void older_names(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    int (*allocate)(unsigned long long *, size_t) = (int (*)(unsigned long long *, size_t))dlsym(driver, "cuMemAlloc");
    int (*fill)(unsigned long long, unsigned, size_t) = (int (*)(unsigned long long, unsigned, size_t))dlsym(driver, "cuMemsetD32");
    int (*copy)(void *, unsigned long long, size_t) = (int (*)(void *, unsigned long long, size_t))dlsym(driver, "cuMemcpyDtoH");
    unsigned long long address;
    unsigned found;
    OK(allocate(&address, 64));
    OK(fill(address, 77, 16));
    OK(copy(&found, address + 60, 4));
    printf("older %u\n", found);
}

/* What has no effect here is kept and given back; a place for a result that nobody wants may be NULL. */
static void wishes(void) {
    int cache, before[8] = {0}, after[8] = {0}, domain[8] = {1}, policy[8] = {SPIN};
    void *stream, *other;
    size_t total;
    OK(cudaDeviceSetCacheConfig(PREFER_L1));
    OK(cudaDeviceGetCacheConfig(&cache));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&other));
    OK(cudaStreamGetAttribute(stream, SYNCHRONIZATION_POLICY, before));
    OK(cudaStreamSetAttribute(stream, SYNCHRONIZATION_POLICY, policy));
    OK(cudaStreamSetAttribute(stream, MEMORY_DOMAIN, domain));
    OK(cudaStreamCopyAttributes(other, stream));
    OK(cudaStreamGetAttribute(other, SYNCHRONIZATION_POLICY, after));
    OK(cudaStreamGetAttribute(other, MEMORY_DOMAIN, domain));
    OK(cudaMemGetInfo(NULL, &total));
    printf("wishes cache %d policy %d %d domain %d unknown %s memory %d\n", cache, *before, *after, *domain,
           cudaGetErrorName(cudaStreamGetAttribute(stream, NO_ATTRIBUTE, before)), total > 0);
}

int main(void) {
    batches();
    values();
    arrays();
    libraries();
    older_names();
    wishes();
    printf("names %s %s\n", cudaGetErrorName(35), cudaGetErrorName(215));
    return 0;
}
