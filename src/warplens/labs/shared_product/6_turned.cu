// Corner turning: lanes below each other as in rung 4, but the tiles are loaded along the rows, and only in shared
// memory does a warp walk down a column. It may, because the rows there are 33 floats apart: 32 different banks.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[32][33], bs[32][33];
  int x = threadIdx.x, y = threadIdx.y, top = blockIdx.x * 32, left = blockIdx.y * 32;
  float sum = 0;
  for (int p = 0; p < n; p += 32) {
    as[y][x] = a[(top + y) * n + p + x];
    bs[y][x] = b[(p + y) * n + left + x];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += as[x][k] * bs[k][y];
    __syncthreads();
  }
  as[x][y] = sum;
  __syncthreads();
  c[(top + y) * n + left + x] = as[y][x];
}
