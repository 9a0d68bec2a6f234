// The same tiles in another order: blocks that follow each other lie one below the other, so that those that run
// together write neighbouring pieces of the same rows of the result, and read from different ones.
extern "C" __global__ void __launch_bounds__(512) transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[64][65];
  int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16;
  unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  int row = block % gridDim.y * 64, column = block / gridDim.y * 64;
  for (int k = 0; k < 64; k += 32) {
    float4 v = *(const float4*)(in + (size_t)(row + y + k) * columns + column + x);
    tile[y + k][x] = v.x, tile[y + k][x + 1] = v.y, tile[y + k][x + 2] = v.z, tile[y + k][x + 3] = v.w;
  }
  __syncthreads();
  for (int k = 0; k < 64; k += 32) {
    float4 v = {tile[x][y + k], tile[x + 1][y + k], tile[x + 2][y + k], tile[x + 3][y + k]};
    *(float4*)(out + (size_t)(column + y + k) * rows + row + x) = v;
  }
}
