/* Memory of the host that is registered, pools, arrays, virtual memory, and what malloc in a kernel leaves. */
#include "cuda_api.h"

typedef struct {
    int bits[4], kind;
} channel_format;

typedef struct {
    int kind, handle_types, location, device;
    void *security;
    char flags[8];
} physical_properties;

typedef struct {
    int location, device, access;
} memory_access;

int cudaHostRegister(void *pointer, size_t size, unsigned flags);
int cudaHostUnregister(void *pointer);
int cudaHostGetDevicePointer(void **device, void *pointer, unsigned flags);
int cudaMallocAsync(void **pointer, size_t size, void *stream);
int cudaFreeAsync(void *pointer, void *stream);
int cudaDeviceGetDefaultMemPool(void **pool, int device);
int cudaMemPoolGetAttribute(void *pool, int attribute, void *value);
int cudaMemPoolSetAttribute(void *pool, int attribute, void *value);
int cudaMallocArray(void **array, const channel_format *format, size_t width, size_t height, unsigned flags);
int cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind);
int cudaMemcpy2DFromArray(void *to, size_t pitch, void *array, size_t x, size_t y, size_t width, size_t height, int kind);
int cudaFreeArray(void *array);
int cudaIpcGetMemHandle(void *handle, void *pointer);
int cudaMemGetInfo(size_t *available, size_t *total);
int cudaDeviceGetLimit(size_t *value, int limit);
int cudaDeviceSetLimit(int limit, size_t value);
int cuMemAddressReserve(unsigned long long *address, size_t size, size_t alignment, unsigned long long wish, unsigned long long flags);
int cuMemCreate(unsigned long long *handle, size_t size, const physical_properties *properties, unsigned long long flags);
int cuMemMap(unsigned long long address, size_t size, size_t offset, unsigned long long handle, unsigned long long flags);
int cuMemSetAccess(unsigned long long address, size_t size, const memory_access *access, size_t count);
int cuMemUnmap(unsigned long long address, size_t size);
int cuMemRelease(unsigned long long handle);
int cuMemAddressFree(unsigned long long address, size_t size);

int cudaStreamGetId(void *stream, unsigned long long *id);
int cudaStreamGetId_ptsz(void *stream, unsigned long long *id);
int cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                           int kind, void *stream);
int cudaStreamSynchronize_ptsz(void *stream);

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, UNIT = 2 << 20 };

static void count_stub(void) {}
static void build_stub(void) {}
static void walk_stub(void) {}
static void descend_stub(void) {}

__attribute__((constructor)) static void enroll(void) {
    void **module = begin_kernels();
    add_kernel(module, (void *)count_stub, "count");
    add_kernel(module, (void *)build_stub, "build");
    add_kernel(module, (void *)walk_stub, "walk");
    add_kernel(module, (void *)descend_stub, "descend");
    __cudaRegisterFatBinaryEnd(module);
}

static void launch(void (*kernel)(void), unsigned threads, void **values) {
    unsigned block = threads < 256 ? threads : 256;
    OK(cudaLaunchKernel((void *)kernel, (dim3){threads / block, 1, 1}, (dim3){block, 1, 1}, values, 0, 0));
}

/* Each adds its number to x[number]. */
static void count(int *x, int n) {
    void *values[] = {&x, &n};
    launch(count_stub, n, values);
    OK(cudaDeviceSynchronize());
}

static void registered(void) {
    enum { N = 1024 };
    int *all = malloc(3 * N * sizeof *all), *first = all, *second = all + N; /* they share a page */
    for (int n = 0; n < 3 * N; n++)
        all[n] = 1;
    OK(cudaHostRegister(first, N * sizeof *all, 2));
    OK(cudaHostRegister(second, N * sizeof *all, 2));
    void *device;
    OK(cudaHostGetDevicePointer(&device, second, 0));
    printf("again %s", cudaGetErrorName(cudaHostRegister(first, 16, 0)));
    printf(" same pointer %d\n", device == second);
    count(first, N);
    count(second, N);
    first[0] = 100; /* the host's writes are seen */
    count(first, N);
    OK(cudaHostUnregister(first));
    count(second, N);
    OK(cudaHostUnregister(second));
    printf("registered %d %d %d %d", first[0], first[N - 1], second[N - 1], all[3 * N - 1]);
    printf(" twice %s\n", cudaGetErrorName(cudaHostUnregister(second)));
    count(first, N); /* a fault: the kernel cannot reach it any more */
}

static void pooled(void) {
    void *pool, *x, *y;
    unsigned long long used, reserved, threshold = ~0ull;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAttribute(pool, 4, &threshold));
    OK(cudaMallocAsync(&x, 1 << 20, 0));
    OK(cudaMallocAsync(&y, 1 << 20, 0));
    OK(cudaFreeAsync(x, 0));
    OK(cudaMemPoolGetAttribute(pool, 7, &used));
    OK(cudaMemPoolGetAttribute(pool, 5, &reserved));
    OK(cudaMallocAsync(&y, 1 << 20, 0));
    printf("used %llu reserved %llu reused %d\n", used >> 20, reserved >> 20, x == y);
}

static void arrays(void) {
    enum { WIDTH = 33, HEIGHT = 5 };
    channel_format format = {{32, 0, 0, 0}, 0};
    int from[HEIGHT][WIDTH], to[2][8] = {{0}};
    void *array;
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        from[n / WIDTH][n % WIDTH] = n;
    OK(cudaMallocArray(&array, &format, WIDTH, HEIGHT, 0));
    OK(cudaMemcpy2DToArray(array, 0, 0, from, sizeof *from, sizeof *from, HEIGHT, HOST_TO_DEVICE));
    OK(cudaMemcpy2DFromArray(to, sizeof *to, array, 25 * 4, 3, 32, 2, DEVICE_TO_HOST));
    printf("array %d %d", to[0][0], to[1][7]);
    printf(" beyond %s\n", cudaGetErrorName(cudaMemcpy2DFromArray(to, 32, array, 26 * 4, 3, 32, 2, DEVICE_TO_HOST)));
    OK(cudaFreeArray(array));
}

/* Two pieces of physical memory side by side, and one of them at a second address. */
static void mapped(void) {
    unsigned long long address, other, pieces[2];
    physical_properties properties = {.kind = 1, .location = 1};
    memory_access access = {1, 0, 3};
    size_t before, after, total;
    OK(cudaMemGetInfo(&before, &total));
    OK(cuMemAddressReserve(&address, 2 * UNIT, 0, 0, 0));
    OK(cuMemAddressReserve(&other, UNIT, 0, 0, 0));
    for (int n = 0; n < 2; n++) {
        OK(cuMemCreate(&pieces[n], UNIT, &properties, 0));
        OK(cuMemMap(address + n * UNIT, UNIT, 0, pieces[n], 0));
    }
    OK(cuMemSetAccess(address, 2 * UNIT, &access, 1));
    OK(cuMemMap(other, UNIT, 0, pieces[1], 0));
    OK(cudaMemset((void *)address, 0, 2 * UNIT)); /* across both */
    count((int *)address, UNIT / 2);
    int last, same;
    OK(cudaMemcpy(&last, (void *)(address + 2 * UNIT - 4), 4, DEVICE_TO_HOST));
    OK(cudaMemcpy(&same, (void *)(other + UNIT - 4), 4, DEVICE_TO_HOST));
    printf("mapped %d %d", last, same);
    OK(cuMemUnmap(address, 2 * UNIT));
    OK(cuMemUnmap(other, UNIT));
    printf(" unmapped %s", cudaGetErrorName(cudaMemcpy(&last, (void *)address, 4, DEVICE_TO_HOST)));
    for (int n = 0; n < 2; n++)
        OK(cuMemRelease(pieces[n]));
    OK(cuMemAddressFree(address, 2 * UNIT));
    OK(cudaMemGetInfo(&after, &total));
    printf(" leaked %zu\n", before - after);
}

/* The variants of --default-stream per-thread; one with arguments on the stack. */
static void per_thread(void) {
    unsigned long long legacy, own, again;
    int from[2][3] = {{1, 2, 3}, {4, 5, 6}}, to[2][2];
    void *x;
    OK(cudaMalloc(&x, sizeof from));
    OK(cudaMemcpy(x, from, sizeof from, HOST_TO_DEVICE));
    OK(cudaStreamGetId_ptsz(0, &own));
    OK(cudaStreamGetId(0, &legacy));
    OK(cudaStreamGetId((void *)2, &again));
    OK(cudaMemcpy2DAsync_ptsz(to, 8, (int *)x + 1, 12, 8, 2, DEVICE_TO_HOST, 0));
    OK(cudaStreamSynchronize_ptsz(0));
    printf("per thread %d %d, copied %d %d\n", own != legacy, own == again, to[0][0], to[1][1]);
}

/* A list that one kernel makes with malloc, and the next walks and frees. */
static void heap(void) {
    void *list, *sum;
    int found, n = 64;
    OK(cudaMalloc(&list, 8 * n));
    OK(cudaMalloc(&sum, 4));
    OK(cudaMemset(sum, 0, 4));
    void *made[] = {&list}, *walked[] = {&list, &sum};
    launch(build_stub, n, made);
    launch(walk_stub, n, walked);
    OK(cudaMemcpy(&found, sum, 4, DEVICE_TO_HOST));
    printf("heap %d\n", found);
    launch(walk_stub, n, walked); /* frees a second time */
    printf("freed twice %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

/* Recursion, which needs more than the 1,024 bytes of the default. */
static void stack(void) {
    size_t limit;
    void *found;
    int depth = 300, sum;
    void *values[] = {&depth, &found};
    OK(cudaMalloc(&found, 4));
    OK(cudaDeviceGetLimit(&limit, 0));
    printf("limit %zu\n", limit);
    OK(cudaDeviceSetLimit(0, 64 << 10));
    launch(descend_stub, 1, values);
    OK(cudaMemcpy(&sum, found, 4, DEVICE_TO_HOST));
    printf("deep %d\n", sum);
    OK(cudaDeviceSetLimit(0, 1024));
    depth++; /* a launch that repeats one is not executed */
    launch(descend_stub, 1, values);
    printf("too deep %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

int main(int count_, char **words) {
    if (count_ > 1 && !strcmp(words[1], "stack")) {
        stack();
        return 0;
    }
    if (count_ > 1 && !strcmp(words[1], "heap")) {
        heap();
        return 0;
    }
    pooled();
    arrays();
    mapped();
    per_thread();
    char handle[64];
    void *x;
    OK(cudaMalloc(&x, 64));
    printf("null %s\n", cudaGetErrorName(cudaMemcpy(x, NULL, 64, 1)));
    printf("ipc %d\n", cudaIpcGetMemHandle(handle, x));
    registered();
    return 0;
}
