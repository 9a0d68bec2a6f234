// One block computes two tiles of C side by side: A's tile is loaded once for both, so that of four loads one goes. The
// threads are half as many and each of them holds twice as much.
constexpr int TILES = 2;

extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][TILES * 16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 * TILES + x;
  float sum[TILES] = {};
#pragma unroll 1
  for (int p = 0; p < n; p += 16) {
    as[y][x] = a[row * n + p + x];
    for (int t = 0; t < TILES; ++t) bs[y][t * 16 + x] = b[(p + y) * n + column + t * 16];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      for (int t = 0; t < TILES; ++t) sum[t] += as[y][k] * bs[k][t * 16 + x];
    __syncthreads();
  }
  for (int t = 0; t < TILES; ++t) c[row * n + column + t * 16] = sum[t];
}
