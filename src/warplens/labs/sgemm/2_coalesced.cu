// Rows and columns change places: a warp reads one float of A, 32 neighbouring ones of B, and writes 32 of C.
extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
