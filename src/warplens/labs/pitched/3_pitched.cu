// Rows with padding, as cudaMallocPitch gives them: each begins at a multiple of 512 bytes, and so at a line of 128.
// The kernel is told the pitch, the bytes from one row to the next.
extern "C" __global__ void product(const char* a, const char* b, char* c, int n, int pitch) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  const float* row_of_a = (const float*)(a + row * pitch);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += row_of_a[k] * ((const float*)(b + k * pitch))[column];
  ((float*)(c + row * pitch))[column] = sum;
}
