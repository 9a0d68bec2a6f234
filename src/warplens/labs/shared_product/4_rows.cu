// Square matrices now, and the lanes of a warp compute 32 elements of C below each other. Each lane walks along a row of
// A, so the 32 lanes always stand in 32 rows: 32 sectors for a load, and again for the store into C.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
