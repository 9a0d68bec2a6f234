// The book's simple kernel: the lanes of a warp compute 32 elements of C beside each other. Each lane walks down a
// column of B, side by side with its neighbours: 4 sectors, all used. Of A all lanes want the same element: 1 sector.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
