// Unrolled by 4: a quarter of the branches. The code grows with each step, and what is saved shrinks.
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int all = blockDim.x * gridDim.x;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) z[i] = x[i] + y[i];
}
