// The same without the lost column: element (y, x) lies at x ^ y, so that rows and columns both spread over all banks.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][32];
  int x = threadIdx.x, row = blockIdx.y * 32, column = blockIdx.x * 32;
  for (int y = threadIdx.y; y < 32; y += 8)
    if (row + y < rows && column + x < columns) tile[y][x ^ y] = in[(size_t)(row + y) * columns + column + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8)
    if (column + y < columns && row + x < rows) out[(size_t)(column + y) * rows + row + x] = tile[x][y ^ x];
}
