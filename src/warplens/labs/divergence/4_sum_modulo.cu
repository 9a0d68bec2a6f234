// The sum of a block, neighbours first: in every round the threads that add are spread over all warps that still add,
// so that in every round lanes part.
extern "C" __global__ void sum(const float* in, float* out) {
  extern __shared__ float partial[];
  unsigned t = threadIdx.x;
  partial[t] = in[blockIdx.x * blockDim.x + t];
#pragma unroll 1
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    if (t % (2 * stride) == 0) partial[t] += partial[t + stride];
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}
