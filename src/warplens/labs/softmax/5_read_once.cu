// The row is read once and kept in shared memory, 16 KB a block: three passes again, but only one goes to the memory.
__device__ float warp_max(float v) {
  for (int s = 16; s > 0; s /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, s));
  return v;
}

__device__ float warp_sum(float v) {
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  return v;
}

__device__ float block_max(float v) {
  __shared__ float of_warp[8];
  v = warp_max(v);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_max(of_warp[threadIdx.x % 8]);
}

__device__ float block_sum(float v) {
  __shared__ float of_warp[8];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < 8 ? of_warp[threadIdx.x % 8] : 0);
}

extern "C" __global__ void __launch_bounds__(256) softmax(const float* in, float* out, int rows, int columns) {
  extern __shared__ float row[];
  const float* x = in + (size_t)blockIdx.x * columns;
  float* y = out + (size_t)blockIdx.x * columns;
  float largest = -3.4e38f, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256) largest = fmaxf(largest, row[i] = x[i]);
  largest = block_max(largest);
  for (int i = threadIdx.x; i < columns; i += 256) sum += row[i] = __expf(row[i] - largest);
  sum = 1 / block_sum(sum);
  for (int i = threadIdx.x; i < columns; i += 256) y[i] = row[i] * sum;
}
