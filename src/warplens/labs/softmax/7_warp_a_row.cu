// A warp a row: each lane keeps 128 elements in registers. No shared memory and no barrier is left; warps do not wait
// for each other, and while one computes, others load and store.
__device__ float warp_max(float v) {
  for (int s = 16; s > 0; s /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, s));
  return v;
}

__device__ float warp_sum(float v) {
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  return v;
}

template <int columns>
__global__ void __launch_bounds__(256) softmax(const float* in, float* out, int rows, int) {
  constexpr int n = columns / 128;
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const float4* x = (const float4*)(in + (size_t)row * columns) + lane;
  float4* y = (float4*)(out + (size_t)row * columns) + lane;
  float4 v[n];
  float largest = -3.4e38f, sum = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) v[i] = x[32 * i];
#pragma unroll
  for (int i = 0; i < n; ++i) largest = fmaxf(largest, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
  largest = warp_max(largest);
#pragma unroll
  for (int i = 0; i < n; ++i) {
    v[i].x = __expf(v[i].x - largest), v[i].y = __expf(v[i].y - largest);
    v[i].z = __expf(v[i].z - largest), v[i].w = __expf(v[i].w - largest);
    sum += v[i].x + v[i].y + (v[i].z + v[i].w);
  }
  sum = 1 / warp_sum(sum);
#pragma unroll
  for (int i = 0; i < n; ++i) y[32 * i] = {v[i].x * sum, v[i].y * sum, v[i].z * sum, v[i].w * sum};
}
