// The same pairs, but thread t takes the t-th of them: the working lanes lie together, whole warps have nothing to do.
// The addresses are those of before: 2 s ints from lane to lane.
extern "C" __global__ void reduce(int* data, int* sums, unsigned n) {
  unsigned t = threadIdx.x;
  int* d = data + blockIdx.x * blockDim.x;
  if (blockIdx.x * blockDim.x + t >= n) return;
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned at = 2 * s * t;
    if (at < blockDim.x) d[at] += d[at + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = d[0];
}
