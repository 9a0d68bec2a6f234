// Maximum and sum by shuffles: one barrier each instead of nine.
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
  const float* x = in + (size_t)blockIdx.x * columns;
  float* y = out + (size_t)blockIdx.x * columns;
  float largest = -3.4e38f, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256) largest = fmaxf(largest, x[i]);
  largest = block_max(largest);
  for (int i = threadIdx.x; i < columns; i += 256) sum += __expf(x[i] - largest);
  sum = block_sum(sum);
  for (int i = threadIdx.x; i < columns; i += 256) y[i] = __expf(x[i] - largest) / sum;
}
