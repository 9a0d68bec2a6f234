/* cudaDeviceReset: what was made is gone, and the next call begins a new context; cuCtxDestroy likewise. */
#include "cuda_api.h"

int cudaDeviceReset(void);
int cudaMemGetInfo(size_t *available, size_t *total);
int cudaMallocHost(void **pointer, size_t size);
int cudaHostRegister(void *pointer, size_t size, unsigned flags);
int cudaHostUnregister(void *pointer);
int cudaGetSymbolAddress(void **pointer, const void *symbol);
int cudaGraphCreate(void **graph, unsigned flags);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
int cudaGraphLaunch(void *exec, void *stream);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuCtxSynchronize(void);
int cuCtxSetCurrent(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuMemAlloc_v2(unsigned long long *address, size_t size);
int cuMemFree_v2(unsigned long long address);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);

enum { N = 64 };

static float factor_shadow, host[N];
static void scale_stub(void) {}

__attribute__((constructor)) static void enroll(void) {
    void **module = begin_kernels();
    add_kernel(module, (void *)scale_stub, "scale");
    __cudaRegisterVar(module, (char *)&factor_shadow, "factor", "factor", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(module);
}

static float *allocated(void) {
    float *made;
    OK(cudaMalloc((void **)&made, sizeof host));
    OK(cudaMemcpy(made, host, sizeof host, 1));
    return made;
}

static void launch(float *from, float *to, void *stream) {
    int n = N;
    void *values[] = {&from, &to, &n};
    OK(cudaLaunchKernel((void *)scale_stub, (dim3){1, 1, 1}, (dim3){N, 1, 1}, values, 0, stream));
}

static void show(const char *what, int error) {
    printf("%s %s\n", what, cudaGetErrorName(error));
    cudaGetLastError();
}

static size_t available(void) {
    size_t now, total;
    OK(cudaMemGetInfo(&now, &total));
    return now;
}

int main(void) {
    float factor = 3, seen;
    void *stream, *event, *graph, *exec, *pinned;
    static char registered[8192];
    for (int n = 0; n < N; n++)
        host[n] = 1;
    size_t before = available();
    float *x = allocated(), *y = allocated();
    OK(cudaMallocHost(&pinned, 4096));
    OK(cudaHostRegister(registered, sizeof registered, 0));
    OK(cudaMemcpyToSymbol(&factor_shadow, &factor, 4, 0, 1));
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    OK(cudaStreamBeginCapture(stream, 0));
    launch(x, y, stream);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaMemcpy(&seen, y, 4, 2));
    printf("scaled %g\n", seen);
    OK(cudaDeviceReset());

    unsigned flags;
    int active;
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("active %d\n", active);
    show("free", cudaFree(x));
    printf("active %d\n", (cuDevicePrimaryCtxGetState(0, &flags, &active), active));
    show("copy", cudaMemcpy(&seen, y, 4, 2));
    show("stream", cudaStreamSynchronize(stream));
    show("event", cudaEventRecord(event, 0));
    show("graph", cudaGraphLaunch(exec, 0));
    show("unregister", cudaHostUnregister(registered));
    printf("given back %d\n", available() == before);
    x = allocated(), y = allocated();
    launch(x, y, 0);
    OK(cudaMemcpy(&seen, y, 4, 2));
    printf("scaled anew %g\n", seen);

    void *context, *module, *function;
    unsigned long long address;
    before = available();
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuMemAlloc_v2(&address, 4096));
    OK(cuModuleLoadData(&module, kernels));
    OK(cuModuleGetFunction(&function, module, "scale"));
    OK(cuCtxDestroy_v2(context));
    show("free", cuMemFree_v2(address));
    show("module", cuModuleGetFunction(&function, module, "scale"));
    OK(cudaMemcpy(&seen, y, 4, 2));
    printf("given back %d, still there %g\n", available() == before, seen);
    OK(cuCtxSetCurrent(context));
    show("destroyed", cuCtxSynchronize());
    show("destroyed twice", cuCtxDestroy_v2(context));
    return 0;
}
