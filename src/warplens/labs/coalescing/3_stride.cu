// The same with any stride and without the remainder: the further apart the lanes read, the more sectors they touch,
// until at 8 floats (32 bytes) each lane has a sector to itself.
extern "C" __global__ void copy(const float* in, float* out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(size_t)i * stride];
}
