// `#pragma unroll` asks for all rounds, but how many there are is an argument. The compiler cannot, and says nothing: it
// unrolls by 4, as it does unasked, with a loop for the rest.
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int all = blockDim.x * gridDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  int rounds = (n - first + all - 1) / all;
#pragma unroll
  for (int k = 0; k < rounds; ++k) z[first + k * all] = x[first + k * all] + y[first + k * all];
}
