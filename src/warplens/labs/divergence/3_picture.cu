// The same test in two dimensions: blocks of 16 x 16 over a picture whose sides are no multiples of 16.
extern "C" __global__ void picture(const float* in, float* out, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) out[row * width + column] = 2 * in[row * width + column];
}
