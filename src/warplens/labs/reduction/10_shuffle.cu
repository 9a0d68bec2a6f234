// Sums stay in registers: eight loads a thread, five shuffles a warp, one int a warp through shared memory.
// Nothing is written back to `data`, and of the eleven block barriers one is left.
__device__ int warp_sum(int v) {
  for (int s = 16; s > 0; s /= 2) v += __shfl_down_sync(~0u, v, s);
  return v;
}

extern "C" __global__ void reduce(int* data, int* sums, unsigned n) {
  __shared__ int of_warp[32];
  unsigned t = threadIdx.x, first = blockIdx.x * blockDim.x * 8 + t;
  int sum = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k)
    if (first + k * blockDim.x < n) sum += data[first + k * blockDim.x];
  sum = warp_sum(sum);
  if (t % 32 == 0) of_warp[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = warp_sum(t < blockDim.x / 32 ? of_warp[t] : 0);
  if (t == 0) sums[blockIdx.x] = sum;
}
