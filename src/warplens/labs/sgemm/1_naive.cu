// One thread an element of C. Neighbouring threads lie in neighbouring rows: a warp reads A, and writes C, in columns.
extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
