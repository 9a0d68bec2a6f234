// Two elements in one access. A struct that is aligned to its size is loaded as a whole; which instruction that is,
// only the machine code tells.
#include <cuda_fp16.h>

template <class T>
struct alignas(2 * sizeof(T)) Pack {
  T lane[2];
};

template <class T>
__global__ void add(const T* x, const T* y, T* z, int n) {
  auto xs = reinterpret_cast<const Pack<T>*>(x), ys = reinterpret_cast<const Pack<T>*>(y);
  auto zs = reinterpret_cast<Pack<T>*>(z);
  int all = blockDim.x * gridDim.x;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += all) {
    Pack<T> a = xs[i], b = ys[i], sum;
    for (int k = 0; k < 2; ++k) sum.lane[k] = a.lane[k] + b.lane[k];
    zs[i] = sum;
  }
}
