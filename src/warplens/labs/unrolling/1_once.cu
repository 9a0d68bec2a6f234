// Not unrolled: for each element two loads, an addition, a store, and then a comparison and a branch.
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int all = blockDim.x * gridDim.x;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) z[i] = x[i] + y[i];
}
