/* Calls of a thread without a current context: those that name a stream or an event take place in its context.
   And kernels launched in steps, as before CUDA 4. */
#include "cuda_api.h"

typedef unsigned long long pointer;

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDeviceGetDefaultMemPool(void **pool, int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxGetCurrent(void **context);
int cuCtxSynchronize(void);
int cuCtxAttach(void **context, unsigned flags);
int cuCtxDetach(void *context);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(pointer *address, size_t size);
int cuMemFree_v2(pointer address);
int cuMemAllocFromPoolAsync(pointer *address, size_t size, void *pool, void *stream);
int cuMemFreeAsync(pointer address, void *stream);
int cuMemcpyHtoDAsync_v2(pointer to, const void *from, size_t size, void *stream);
int cuMemcpyDtoH_v2(void *to, pointer from, size_t size);
int cuMemsetD8Async(pointer to, unsigned char value, size_t count, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamGetCtx(void *stream, void **context);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventQuery(void *event);
int cuEventDestroy_v2(void *event);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **values, void **extra);
int cuFuncSetBlockShape(void *function, int x, int y, int z);
int cuFuncSetSharedSize(void *function, unsigned bytes);
int cuParamSetSize(void *function, unsigned bytes);
int cuParamSetv(void *function, int offset, void *value, unsigned bytes);
int cuParamSeti(void *function, int offset, unsigned value);
int cuLaunchGrid(void *function, int width, int height);
int cudaDeviceGetLimit(size_t *value, int limit);

enum { RELAXED = 2, STEP = 3 };

static void in_steps(void *function, pointer x) {
    int sum = 0;
    OK(cuFuncSetBlockShape(function, 32, 1, 1));
    OK(cuFuncSetSharedSize(function, 0));
    OK(cuParamSetSize(function, 12));
    OK(cuParamSetv(function, 0, &x, 8));
    OK(cuParamSeti(function, 8, STEP));
    OK(cuLaunchGrid(function, 2, 1));
    OK(cuMemcpyDtoH_v2(&sum, x, 4));
    printf("steps %d, no block %s\n", sum, cudaGetErrorName(cuFuncSetBlockShape(function, 0, 1, 1)));
}

int main(void) {
    void *context, *popped, *stream, *other, *event, *pool, *module, *function, *graph, *own, *attached;
    pointer x, y, spare;
    int four = 4;
    size_t limit;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxPushCurrent_v2(context));
    OK(cuModuleLoadData(&module, kernels));
    OK(cuModuleGetFunction(&function, module, "add"));
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamCreate(&other, 1));
    OK(cuEventCreate(&event, 0));
    OK(cuMemAlloc_v2(&x, 256));
    OK(cuMemAlloc_v2(&spare, 256));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuCtxPopCurrent_v2(&popped));

    void *values[] = {&x, &four};
    OK(cuMemAllocFromPoolAsync(&y, 1000, pool, stream));
    OK(cuMemFreeAsync(y, stream));
    OK(cuMemsetD8Async(x, 0, 256, stream));
    OK(cuMemcpyHtoDAsync_v2(x, &four, 4, stream));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, values, 0));
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(other, event, 0));
    OK(cuStreamSynchronize(stream));
    OK(cuEventQuery(event));
    OK(cuStreamGetCtx(stream, &popped));
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    OK(cuStreamEndCapture(stream, &graph));
    printf("its own %d\n", popped == context);
    OK(cuCtxGetCurrent(&popped));
    printf("current %d, default stream %s %s %s, none %s %s\n", popped != NULL,
           cudaGetErrorName(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, values, 0)),
           cudaGetErrorName(cuMemsetD8Async(x, 0, 4, 0)), cudaGetErrorName(cuStreamSynchronize(0)),
           cudaGetErrorName(cuMemAlloc_v2(&y, 4)), cudaGetErrorName(cuCtxSynchronize()));
    OK(cuMemFree_v2(spare));
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(other));

    for (int n = 1; n <= 5; n += n == 1 ? 3 : 1) { /* the runtime API makes the primary context current again */
        OK(cudaDeviceGetLimit(&limit, n));
        printf("limit %d %zu\n", n, limit);
    }
    in_steps(function, x);
    OK(cuCtxCreate_v2(&own, 0, 0));
    OK(cuCtxAttach(&attached, 0));
    printf("attached %d", attached == own);
    OK(cuCtxDetach(own));
    OK(cuCtxSynchronize());
    OK(cuCtxDetach(own));
    OK(cuCtxGetCurrent(&popped));
    printf(" ended %d\n", popped == context);
    return 0;
}
