"""Starter kernel: the text of the page where no file is given."""

STARTER_FILE = "kernel.cu"
STARTER = """\
// /// warplens
// n = 1048576
//
// [scale]
// grid = "n / 256"
// block = 256
// args = ["x = random f32[n]", "y = zeros f32[n]", "n"]
// ///

extern "C" __global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
"""
