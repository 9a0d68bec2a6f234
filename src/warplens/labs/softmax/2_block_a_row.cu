// A block of 256 threads a row: neighbouring lanes read neighbouring floats. Maximum and sum go through a tree in
// shared memory, eight rounds with a barrier each.
__device__ float block_max(float v) {
  __shared__ float all[256];
  all[threadIdx.x] = v;
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) all[threadIdx.x] = fmaxf(all[threadIdx.x], all[threadIdx.x + s]);
  }
  __syncthreads();
  return all[0];
}

__device__ float block_sum(float v) {
  __shared__ float all[256];
  all[threadIdx.x] = v;
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) all[threadIdx.x] += all[threadIdx.x + s];
  }
  __syncthreads();
  return all[0];
}

extern "C" __global__ void __launch_bounds__(256) softmax(const float* in, float* out, int rows, int columns) {
  const float* x = in + (size_t)blockIdx.x * columns;
  float* y = out + (size_t)blockIdx.x * columns;
  float largest = -3.4e38f, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256) largest = fmaxf(largest, x[i]);
  largest = block_max(largest);
  for (int i = threadIdx.x; i < columns; i += 256) sum += __expf(x[i] - largest);
  sum = block_sum(sum);
  for (int i = threadIdx.x; i < columns; i += 256) y[i] = __expf(x[i] - largest) / sum;
}
