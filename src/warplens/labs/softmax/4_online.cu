// Maximum and sum in one pass: when a larger element comes, the sum so far is scaled down to it.
// Two sums are joined in the same way. The row is read twice instead of three times.
struct Part {
  float largest, sum;  // of exp(x - largest)
};

__device__ Part join(Part a, Part b) {
  float largest = fmaxf(a.largest, b.largest);
  return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ Part warp_join(Part p) {
  for (int s = 16; s > 0; s /= 2)
    p = join(p, {__shfl_xor_sync(~0u, p.largest, s), __shfl_xor_sync(~0u, p.sum, s)});
  return p;
}

__device__ Part block_join(Part p) {
  __shared__ Part of_warp[8];
  p = warp_join(p);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = p;
  __syncthreads();
  Part all = of_warp[0];
  for (int i = 1; i < 8; ++i) all = join(all, of_warp[i]);
  return all;
}

extern "C" __global__ void __launch_bounds__(256) softmax(const float* in, float* out, int rows, int columns) {
  const float* x = in + (size_t)blockIdx.x * columns;
  float* y = out + (size_t)blockIdx.x * columns;
  Part p = {-3.4e38f, 0};
  for (int i = threadIdx.x; i < columns; i += 256) p = join(p, {x[i], 1});
  p = block_join(p);
  for (int i = threadIdx.x; i < columns; i += 256) y[i] = __expf(x[i] - p.largest) / p.sum;
}
