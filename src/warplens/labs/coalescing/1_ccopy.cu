// Neighbouring threads read neighbouring floats: the 32 lanes of a warp ask for 128 bytes in a row, which are 4
// sectors of 32 bytes, and every byte of them is used.
extern "C" __global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
