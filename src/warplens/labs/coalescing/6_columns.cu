// A matrix of `width` rows, and each thread adds up one column. A thread jumps from row to row, but at any moment the
// 32 lanes stand next to each other: 4 sectors for each load, all of their bytes used.
extern "C" __global__ void sum(const float* in, float* out, int n, int width) {
  int columns = n / width, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float s = 0;
  for (int k = 0; k < width; ++k) s += in[(size_t)k * columns + column];
  out[column] = s;
}
