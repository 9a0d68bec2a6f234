// The row is kept in registers, four 16-byte loads a thread: all are on their way before the first is needed.
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

template <int columns>
__global__ void __launch_bounds__(256) softmax(const float* in, float* out, int rows, int) {
  constexpr int n = columns / 1024;
  const float4* x = (const float4*)(in + (size_t)blockIdx.x * columns) + threadIdx.x;
  float4* y = (float4*)(out + (size_t)blockIdx.x * columns) + threadIdx.x;
  float4 v[n];
  float largest = -3.4e38f, sum = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) v[i] = x[256 * i];
#pragma unroll
  for (int i = 0; i < n; ++i) largest = fmaxf(fmaxf(fmaxf(largest, v[i].x), fmaxf(v[i].y, v[i].z)), v[i].w);
  largest = block_max(largest);
#pragma unroll
  for (int i = 0; i < n; ++i) {
    v[i].x = __expf(v[i].x - largest), v[i].y = __expf(v[i].y - largest);
    v[i].z = __expf(v[i].z - largest), v[i].w = __expf(v[i].w - largest);
    sum += v[i].x + v[i].y + (v[i].z + v[i].w);
  }
  sum = 1 / block_sum(sum);
#pragma unroll
  for (int i = 0; i < n; ++i) y[256 * i] = {v[i].x * sum, v[i].y * sum, v[i].z * sum, v[i].w * sum};
}
