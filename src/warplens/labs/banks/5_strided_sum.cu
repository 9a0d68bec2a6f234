// A block adds up 256 numbers: pairs of neighbours first, then pairs of pairs. The threads that work are neighbours, but
// what they touch lies 2, 4, 8 ... words apart, so that they meet in ever fewer banks.
extern "C" __global__ void sum(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    int k = 2 * step * t;
    if (k < 256) s[k] += s[k + step];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
