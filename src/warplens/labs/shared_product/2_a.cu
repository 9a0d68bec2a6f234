// The tile of A is read once into shared memory. A warp uses only the row that it has read itself, so it is enough that
// the 32 lanes of the warp wait for each other; the other warps of the block need not.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[32][32];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
  as[y][x] = a[row * 32 + x];
  __syncwarp();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += as[y][k] * b[k * n + column];
  c[row * n + column] = sum;
}
