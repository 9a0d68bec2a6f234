// The tile of B too: 32 warps read the same 32 rows of B, and now each row is read once, by one of them. What a warp
// uses was read by others, so that the whole block has to wait.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[32][32], bs[32][32];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
  as[y][x] = a[row * 32 + x];
  bs[y][x] = b[y * n + column];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += as[y][k] * bs[k][x];
  c[row * n + column] = sum;
}
