// The product of two 4 x 4 matrices by tiles of 2 x 2: in each phase a block loads one tile of M and one of N.
extern "C" __global__ void product(const float* m, const float* n, float* p, int width) {
  __shared__ float tile_m[2][2], tile_n[2][2];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 2 + x, row = blockIdx.y * 2 + y;
  float sum = 0;
#pragma unroll 1
  for (int phase = 0; phase < width / 2; ++phase) {
    tile_m[y][x] = m[row * width + phase * 2 + x];
    tile_n[y][x] = n[(phase * 2 + y) * width + column];
    __syncthreads();
    sum += tile_m[y][0] * tile_n[0][x] + tile_m[y][1] * tile_n[1][x];
    __syncthreads();
  }
  p[row * width + column] = sum;
}
