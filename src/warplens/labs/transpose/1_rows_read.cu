// A warp reads 32 neighbouring floats of a row, and writes them into 32 rows: a sector for each float.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row < rows && column < columns) out[(size_t)column * rows + row] = in[(size_t)row * columns + column];
}
