// The same known number of rounds, and the loop is to stay: `#pragma unroll 1`. The body stands once, and a counter runs
// up to 8.
constexpr int ROUNDS = 8;

extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int all = blockDim.x * gridDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < ROUNDS; ++k) z[first + k * all] = x[first + k * all] + y[first + k * all];
}
