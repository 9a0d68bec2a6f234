// No loop is left: each round stands there, behind a test of the block size that is known only when the kernel runs.
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
  if (blockDim.x >= 1024 && t < 512) d[t] += d[t + 512];
  __syncthreads();
  if (blockDim.x >= 512 && t < 256) d[t] += d[t + 256];
  __syncthreads();
  if (blockDim.x >= 256 && t < 128) d[t] += d[t + 128];
  __syncthreads();
  if (blockDim.x >= 128 && t < 64) d[t] += d[t + 64];
  __syncthreads();
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
