// Each block reduces eight blocks of data: an eighth of the blocks, and eight loads in flight for each thread.
extern "C" __global__ void reduce(int* data, int* sums, unsigned n) {
  unsigned t = threadIdx.x;
  int* d = data + blockIdx.x * blockDim.x * 8;
  if (blockIdx.x * blockDim.x * 8 + 7 * blockDim.x + t < n)
    d[t] = d[t] + d[t + blockDim.x] + d[t + 2 * blockDim.x] + d[t + 3 * blockDim.x] + d[t + 4 * blockDim.x] +
           d[t + 5 * blockDim.x] + d[t + 6 * blockDim.x] + d[t + 7 * blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) d[t] += d[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = d[0];
}
