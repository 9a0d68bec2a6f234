// Unrolled by 4, and the promise that z shares no memory with x and y. Only now may the compiler load ahead of a store:
// eight loads first and then four stores, so that eight loads are under way at a time and not two.
extern "C" __global__ void add(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, int n) {
  int all = blockDim.x * gridDim.x;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) z[i] = x[i] + y[i];
}
