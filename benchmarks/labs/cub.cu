// CUB's sums behind a C interface: nvcc -O3 -arch=sm_90 -shared -Xcompiler -fPIC -o libcub_sums.so cub.cu
#include <cub/device/device_reduce.cuh>

#define SUM(NAME, TYPE)                                                                          \
  extern "C" int NAME(void* scratch, size_t* bytes, const TYPE* in, TYPE* out, int n, void* stream) { \
    return cub::DeviceReduce::Sum(scratch, *bytes, in, out, n, (cudaStream_t)stream);            \
  }
SUM(sum_int, int)
SUM(sum_float, float)
extern "C" int cub_version() { return CUB_VERSION; }
