// Counts of the values of an image's bytes: each thread adds to global memory, or each block to bins of its own first.
// /// warplens
// n = 4194304
// [histogram]
// grid = "n / 256"
// block = 256
// args = ["random(0, 256) u8[n]", "zeros u32[256]", "n"]
// [histogram_shared]
// grid = 1056
// block = 256
// args = ["random(0, 256) u8[n]", "zeros u32[256]", "n"]
// ///
extern "C" __global__ void histogram(const unsigned char* image, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[image[i]], 1);
}

extern "C" __global__ void histogram_shared(const unsigned char* image, unsigned* bins, int n) {
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[image[i]], 1);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
