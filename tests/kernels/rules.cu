// Pairs for rules whose fault no lab has: the first kernel of each has it, the second does not.
// /// warplens
// n = 33792
// [histogram]
// grid = "n / 256"
// block = 256
// args = ["random(0, 4) i32[n]", "zeros i32[n]"]
// [own_bins]
// grid = "n / 256"
// block = 256
// args = ["random(0, 4) i32[n]", "zeros i32[n]"]
// [double_literals]
// grid = "n / 256"
// block = 256
// args = ["random f32[n]", "zeros f32[n]"]
// [float_literals]
// grid = "n / 256"
// block = 256
// args = ["random f32[n]", "zeros f32[n]"]
// [table_by_variable]
// grid = "n / 256"
// block = 256
// args = ["random f32[64]", "zeros f32[n]", "random(0, 64) i32[64]"]
// ///
__global__ void histogram(const int* k, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[k[i] & 3], 1);
}

__global__ void own_bins(const int* k, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[i], k[i]);
}

__global__ void double_literals(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int n = 0; n < 9; n++) v = v * 0.999 + 0.5;
  y[i] = v;
}

__global__ void float_literals(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int n = 0; n < 9; n++) v = v * 0.999f + 0.5f;
  y[i] = v;
}

__global__ void table_by_variable(const float* x, float* y, const int* k) {
  float a[64];
  for (int j = 0; j < 64; j++) a[j] = x[j];
  float t = 0;
  for (int j = 0; j < 64; j++) t += a[(k[j] + threadIdx.x) & 63];
  y[blockIdx.x * blockDim.x + threadIdx.x] = t;
}
