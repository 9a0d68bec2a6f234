// Launches one kernel of planted_faults.cu through the driver, for compute-sanitizer to watch:
//   sanitized planted_faults.cubin KERNEL grid block n shared
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int ended(const char *what, CUresult result) {
  const char *name = "?";
  cuGetErrorName(result, &name);
  std::printf("%s %s\n", what, name);
  return result != CUDA_SUCCESS;
}

int main(int, char **given) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  int grid = std::atoi(given[3]), block = std::atoi(given[4]), n = std::atoi(given[5]), shared = std::atoi(given[6]);
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
      cuCtxSetCurrent(context) || cuModuleLoad(&module, given[1]) ||
      cuModuleGetFunction(&kernel, module, given[2]))
    return 9;
  CUdeviceptr in, out;
  std::vector<int> numbers(n), results(n);
  for (int i = 0; i < n; i++) numbers[i] = i;
  if (cuMemAlloc(&in, 4 * n) || cuMemAlloc(&out, 4 * n) || cuMemcpyHtoD(in, numbers.data(), 4 * n)) return 9;
  if (std::strcmp(given[2], "global_never_written") && cuMemsetD32(out, 0, n)) return 9;
  void *arguments[] = {&in, &out, &n};
  int bad = ended("launch", cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, shared, nullptr, arguments, nullptr));
  bad |= ended("finish", cuCtxSynchronize());
  if (!bad && !cuMemcpyDtoH(results.data(), out, 4 * n)) {
    std::printf("out");
    for (int i = 0; i < n && i < 64; i++) std::printf(" %d", results[i]);
    std::printf("\n");
  }
  return bad;
}
