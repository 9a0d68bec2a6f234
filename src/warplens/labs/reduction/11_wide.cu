// The same eight ints a thread as two loads of 16 bytes: a quarter of the load instructions for the same sectors.
__device__ int warp_sum(int v) {
  for (int s = 16; s > 0; s /= 2) v += __shfl_down_sync(~0u, v, s);
  return v;
}

__device__ int sum_of(int4 v) { return v.x + v.y + v.z + v.w; }

extern "C" __global__ void reduce(int* data, int* sums, unsigned n) {
  __shared__ int of_warp[32];
  const int4* wide = reinterpret_cast<const int4*>(data);
  unsigned t = threadIdx.x, first = blockIdx.x * blockDim.x * 2 + t;
  int sum = 0;
#pragma unroll
  for (unsigned k = 0; k < 2; ++k)
    if (first + k * blockDim.x < n / 4) sum += sum_of(wide[first + k * blockDim.x]);
  sum = warp_sum(sum);
  if (t % 32 == 0) of_warp[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = warp_sum(t < blockDim.x / 32 ? of_warp[t] : 0);
  if (t == 0) sums[blockIdx.x] = sum;
}
