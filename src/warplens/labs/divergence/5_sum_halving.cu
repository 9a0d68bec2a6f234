// The sum of a block, halves first: the threads that add are the first ones, whole warps of them, until fewer than a
// warp is left. Lanes part in the last five rounds only; additions and rounds are as many as before.
extern "C" __global__ void sum(const float* in, float* out) {
  extern __shared__ float partial[];
  unsigned t = threadIdx.x;
  partial[t] = in[blockIdx.x * blockDim.x + t];
#pragma unroll 1
  for (unsigned stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (t < stride) partial[t] += partial[t + stride];
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}
