// C = A B for a narrow A (m x 32) and a flat B (32 x n), one element of C a thread, a row of 32 of them a warp. A warp
// reads a single element of A at a time, over and over, and 32 neighbours of B: both from global memory.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += a[row * 32 + k] * b[k * n + column];
  c[row * n + column] = sum;
}
