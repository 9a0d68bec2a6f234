// Each warp follows a chain through memory and waits for every step: only other warps can fill the time. Meanwhile each
// thread keeps KEEP numbers in registers, and the more it keeps, the fewer blocks an SM holds.
extern "C" __global__ void walk(const int* next, const float* in, float* out, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float kept[KEEP];
  for (int k = 0; k < KEEP; ++k) kept[k] = in[1024 * k + i % 1024];
  int at = i / 32;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) at = next[at];
  float sum = at;
  for (int k = 0; k < KEEP; ++k) sum += kept[k];
  out[i] = sum;
}
