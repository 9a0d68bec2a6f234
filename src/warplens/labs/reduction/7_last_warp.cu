// The last six rounds belong to one warp and need no block barrier. The text writes `v[t] += v[t + 32]` and so on with
// a volatile pointer and trusts that a warp moves in step: since Volta nobody promises that, and one lane may write
// what another has yet to read. __syncwarp() between reading and writing makes it right.
__device__ void last_step(volatile int* v, unsigned t, unsigned s) {
  int sum = v[t] + v[t + s];
  __syncwarp();
  v[t] = sum;
  __syncwarp();
}

extern "C" __global__ void reduce(int* data, int* sums, unsigned n) {
  unsigned t = threadIdx.x;
  int* d = data + blockIdx.x * blockDim.x * 8;
  if (blockIdx.x * blockDim.x * 8 + 7 * blockDim.x + t < n)
    d[t] = d[t] + d[t + blockDim.x] + d[t + 2 * blockDim.x] + d[t + 3 * blockDim.x] + d[t + 4 * blockDim.x] +
           d[t + 5 * blockDim.x] + d[t + 6 * blockDim.x] + d[t + 7 * blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s) d[t] += d[t + s];
    __syncthreads();
  }
  if (t < 32) {
    volatile int* v = d;
    last_step(v, t, 32);
    last_step(v, t, 16);
    last_step(v, t, 8);
    last_step(v, t, 4);
    last_step(v, t, 2);
    last_step(v, t, 1);
  }
  if (t == 0) sums[blockIdx.x] = d[0];
}
