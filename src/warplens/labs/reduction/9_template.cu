// The block size is a template parameter: the compiler drops the tests of it, and all offsets become constants.
__device__ void last_step(volatile int* v, unsigned t, unsigned s) {
  int sum = v[t] + v[t + s];
  __syncwarp();
  v[t] = sum;
  __syncwarp();
}

template <unsigned block>
__global__ void reduce(int* data, int* sums, unsigned n) {
  unsigned t = threadIdx.x;
  int* d = data + blockIdx.x * block * 8;
  if (blockIdx.x * block * 8 + 7 * block + t < n)
    d[t] = d[t] + d[t + block] + d[t + 2 * block] + d[t + 3 * block] + d[t + 4 * block] +
           d[t + 5 * block] + d[t + 6 * block] + d[t + 7 * block];
  __syncthreads();
  if (block >= 1024 && t < 512) d[t] += d[t + 512];
  __syncthreads();
  if (block >= 512 && t < 256) d[t] += d[t + 256];
  __syncthreads();
  if (block >= 256 && t < 128) d[t] += d[t + 128];
  __syncthreads();
  if (block >= 128 && t < 64) d[t] += d[t + 64];
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
