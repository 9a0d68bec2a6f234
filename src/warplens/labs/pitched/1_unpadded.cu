// A matrix as it is allocated without further thought: row after row, each right behind the other.
// Where a row begins depends on its length; with 1,001 floats at any word, with 1,000 at multiples of 32 bytes.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n, int width) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * width + k] * b[k * width + column];
  c[row * width + column] = sum;
}
