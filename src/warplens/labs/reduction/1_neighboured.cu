// Neighbouring pairs: in round s, the threads whose number is a multiple of 2 s add their neighbour at distance s.
// The lanes that work lie scattered, so every warp runs every one of the first five rounds, with ever fewer lanes.
extern "C" __global__ void reduce(int* data, int* sums, unsigned n) {
  unsigned t = threadIdx.x;
  int* d = data + blockIdx.x * blockDim.x;
  if (blockIdx.x * blockDim.x + t >= n) return;
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) d[t] += d[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = d[0];
}
