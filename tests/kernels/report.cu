// Three kernels for the reports: clean, with bank conflicts, with lanes that part.
// /// warplens
// n = 128
// ["matmul<16>"]
// grid = ["n / 16", "n / 16"]
// block = [16, 16]
// args = ["random f32[n * n]", "random f32[n * n]", "zeros f32[n * n]", "n"]
// [transpose]
// grid = "8,8"
// block = "32,8"
// args = ["random f32[n*2 * n*2]", "out = zeros f32[n*2 * n*2]", "n * 2"]
// [odd]
// grid = 64
// block = 100
// args = ["random i32[8192]", "zeros i32[8192]"]
// ///
template <int T>
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float as[T][T], bs[T][T];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float s = 0;
  for (int p = 0; p < n / T; ++p) {
    as[ty][tx] = a[row * n + p * T + tx];
    bs[ty][tx] = b[(p * T + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) s += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = s;
}
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void odd(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  while (v > 1) { if (v & 1) v = 3 * v + 1; else v >>= 1; atomicAdd(&out[i & 15], 1); }
}
