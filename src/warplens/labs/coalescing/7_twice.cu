// Each element is read twice. The barrier keeps the compiler from merging the two loads, because another thread might
// have written in between; the second one finds its sectors in the L1 cache, so DRAM is asked only once.
extern "C" __global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float first = in[i];
  __syncthreads();
  out[i] = 0.5f * (first + in[i]);
}
