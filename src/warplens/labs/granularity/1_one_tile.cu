// One block computes one tile of C of 16 x 16, and its right neighbour loads the same tiles of A once more.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
#pragma unroll 1
  for (int p = 0; p < n; p += 16) {
    as[y][x] = a[row * n + p + x];
    bs[y][x] = b[(p + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
