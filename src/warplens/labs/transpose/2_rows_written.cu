// The other way round: a warp writes 32 neighbouring floats, and reads them from 32 rows.
// The eight warps of a block read neighbouring columns, so that L1 still has the sectors that the first of them fetched.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 8 + threadIdx.y;
  if (row < rows && column < columns) out[(size_t)column * rows + row] = in[(size_t)row * columns + column];
}
