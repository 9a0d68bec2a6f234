// Neighbouring threads read every second float: 256 bytes, 8 sectors, half of which nobody asked for. And a second
// cost that the source hides: n is not known to the compiler, and "% n" becomes 21 instructions.
extern "C" __global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(2 * i) % n];
}
