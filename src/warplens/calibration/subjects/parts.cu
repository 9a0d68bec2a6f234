// Parts of sectors and lines: stores that fill them bit by bit, lanes that walk along runs of their own.
extern "C" {
// Each lane stores `run` words one after the other; the runs of neighbouring lanes begin `apart` words from each other, and
// a warp's next piece lies between them until `apart` words are full.
__global__ void write_runs(float* y, long n, int run, int apart) {
  long warps = (long)blockDim.x * gridDim.x / 32, pieces = apart / run;
  for (long w = (threadIdx.x + (long)blockIdx.x * blockDim.x) / 32; w * 32 * run < n; w += warps) {
    float* p = y + w / pieces * 32 * apart + w % pieces * run + (long)(threadIdx.x % 32) * apart;
    for (int i = 0; i < run; ++i) ((volatile float*)p)[i] = i;
  }
}
// The same with loads.
__global__ void read_runs(const float* x, float* sink, long n, int run, int apart) {
  long warps = (long)blockDim.x * gridDim.x / 32, pieces = apart / run;
  float sum = 0;
  for (long w = (threadIdx.x + (long)blockIdx.x * blockDim.x) / 32; w * 32 * run < n; w += warps) {
    const float* p = x + w / pieces * 32 * apart + w % pieces * run + (long)(threadIdx.x % 32) * apart;
#pragma unroll 4
    for (int i = 0; i < run; ++i) sum += p[i];
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
// One word of every `apart` is changed.
__global__ void update_parts(float* y, long n, int apart) {
  long i = (threadIdx.x + (long)blockIdx.x * blockDim.x) * apart;
  if (i < n) y[i] += 1;
}
// One warp a block, which sums a row.
__global__ void sum_rows(const float* x, float* y, int row) {
  float sum = 0;
  for (int i = threadIdx.x; i < row; i += 32) sum += x[(long)blockIdx.x * row + i];
  y[(long)blockIdx.x * 32 + threadIdx.x] = sum;
}
// Each thread goes down a column of a matrix of `rows` rows, and waits for each word.
__global__ void columns(const float* x, float* y, int rows, int width) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float v = 0;
#pragma unroll 1
  for (int r = 0; r < rows; ++r) v = fmaf(v, 0.5f, x[(long)r * width + i + (v == UNLIKELY)]);
  y[i] = v;
}
}
