// Each block reduces two blocks of data: half of the blocks, and two loads in flight for each thread.
extern "C" __global__ void reduce(int* data, int* sums, unsigned n) {
  unsigned t = threadIdx.x;
  int* d = data + blockIdx.x * blockDim.x * 2;
  if (blockIdx.x * blockDim.x * 2 + blockDim.x + t < n)
    d[t] += d[t + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) d[t] += d[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = d[0];
}
