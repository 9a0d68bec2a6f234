/* Several GPUs: variables of each, copies between them, peers, kernels side by side. */
#include "cuda_api.h"

int cudaGetDeviceCount(int *count);
int cudaSetDevice(int device);
int cudaGetDevice(int *device);
int cudaDeviceCanAccessPeer(int *can, int device, int peer);
int cudaDeviceEnablePeerAccess(int peer, unsigned flags);
int cudaDeviceDisablePeerAccess(int peer);
int cudaDeviceGetPCIBusId(char *text, int length, int device);
int cudaDeviceGetByPCIBusId(int *device, const char *text);
int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size);

enum { N = 1 << 20, BYTES = 4 * N, DEVICE_TO_HOST = 2 };

static int factor_shadow;
static void fill_stub(void) {}

__attribute__((constructor)) static void enroll(void) {
    void **module = begin_kernels();
    add_kernel(module, (void *)fill_stub, "fill");
    __cudaRegisterVar(module, (char *)&factor_shadow, (char *)"factor", "factor", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(module);
}

static int *x[2];

static void launch(int device) {
    int n = N;
    void *values[] = {&x[device], &n};
    OK(cudaSetDevice(device));
    OK(cudaLaunchKernel((void *)fill_stub, (dim3){N / 256, 1, 1}, (dim3){256, 1, 1}, values, 0, 0));
}

int main(void) {
    int count, can, current, value;
    OK(cudaGetDeviceCount(&count));
    printf("devices %d third %s\n", count, cudaGetErrorName(cudaSetDevice(2)));
    cudaGetLastError();
    for (int device = 0; device < count; device++) {
        int factor = 10 + device;
        OK(cudaSetDevice(device));
        OK(cudaMalloc((void **)&x[device], BYTES));
        OK(cudaMemcpyToSymbol(&factor_shadow, &factor, 4, 0, 1));
    }
    launch(0);
    launch(1);
    OK(cudaDeviceSynchronize());
    for (int device = 0; device < 2; device++) {
        OK(cudaMemcpy(&value, x[device] + N - 1, 4, DEVICE_TO_HOST));
        printf("of device %d: %d\n", device, value);
    }
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    OK(cudaSetDevice(0));
    printf("peer %d", can);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    printf(" again %s", cudaGetErrorName(cudaDeviceEnablePeerAccess(1, 0)));
    OK(cudaDeviceDisablePeerAccess(1));
    printf(" off %s\n", cudaGetErrorName(cudaDeviceDisablePeerAccess(1)));
    OK(cudaMemcpyPeer(x[0], 0, x[1], 1, BYTES));
    OK(cudaMemcpy(&value, x[0], 4, DEVICE_TO_HOST));
    char text[32];
    OK(cudaDeviceGetPCIBusId(text, 32, 1));
    OK(cudaDeviceGetByPCIBusId(&current, text));
    printf("copied %d bus %s is %d", value, text, current);
    OK(cudaGetDevice(&current));
    printf(" current %d\n", current);
    /* While the second works, the first is idle: its event is there at once. */
    void *begin, *end;
    float ms;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(begin, 0));
    OK(cudaDeviceSynchronize());
    launch(1);
    launch(0);
    OK(cudaEventRecord(end, 0));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    printf("%.2f\n", 1000 * ms);
    return 0;
}
