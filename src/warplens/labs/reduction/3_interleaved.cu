// Pairs half a block apart: neighbouring lanes read neighbouring ints, and nearly every byte of a sector is used.
extern "C" __global__ void reduce(int* data, int* sums, unsigned n) {
  unsigned t = threadIdx.x;
  int* d = data + blockIdx.x * blockDim.x;
  if (blockIdx.x * blockDim.x + t >= n) return;
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) d[t] += d[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = d[0];
}
