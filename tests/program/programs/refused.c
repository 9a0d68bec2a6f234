/* What is not provided: sharing with other processes, green contexts.  Each call twice; it is named once. */
#include "cuda_api.h"

int cudaIpcGetMemHandle(void *handle, void *pointer);
int cudaIpcGetEventHandle(void *handle, void *event);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cuMemPoolCreate(void **pool, const void *properties);
int cuMemCreate(unsigned long long *handle, size_t size, const void *properties, unsigned long long flags);
int cuDeviceGetDevResource(int device, void *resource, int type);
int cuGreenCtxCreate(void **context, void *description, int device, unsigned flags);

enum { IPC_EVENTS = 125, POOL_HANDLES = 119, FILE_DESCRIPTOR = 1 };

static int last_errors;

static void show(const char *what, int error) {
    printf("%s %s\n", what, cudaGetErrorName(error));
    last_errors |= cudaGetLastError();
}

int main(void) {
    char handle[64] = {0};
    void *pointer, *event, *made;
    unsigned long long memory;
    int events, pools;
    const int pool[22] = {1, FILE_DESCRIPTOR, 1, 0};     /* cudaMemPoolProps: pinned, on GPU 0 */
    const int physical[8] = {1, FILE_DESCRIPTOR, 1, 0}; /* CUmemAllocationProp */
    for (int round = 0; round < 2; round++) {
        show("memory handle", cudaIpcGetMemHandle(handle, &pointer));
        show("event handle", cudaIpcGetEventHandle(handle, &event));
        show("pool", cuMemPoolCreate(&made, pool));
        show("physical memory", cuMemCreate(&memory, 2 << 20, physical, 0));
        show("green context", cuGreenCtxCreate(&made, handle, 0, 1));
        show("resource", cuDeviceGetDevResource(0, handle, 1));
    }
    OK(cudaDeviceGetAttribute(&events, IPC_EVENTS, 0));
    OK(cudaDeviceGetAttribute(&pools, POOL_HANDLES, 0));
    OK(cudaMalloc(&pointer, 16));
    printf("events %d pools %d last error %d\n", events, pools, last_errors);
    return 0;
}
