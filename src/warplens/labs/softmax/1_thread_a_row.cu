// As it stands in the book: the largest element of a row, the sum of the exponentials, the quotients. A thread a row.
// Neighbouring lanes read elements that are a whole row apart.
extern "C" __global__ void softmax(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = in + (size_t)row * columns;
  float largest = -3.4e38f, sum = 0;
  for (int i = 0; i < columns; ++i) largest = fmaxf(largest, x[i]);
  for (int i = 0; i < columns; ++i) sum += __expf(x[i] - largest);
  for (int i = 0; i < columns; ++i) out[(size_t)row * columns + i] = __expf(x[i] - largest) / sum;
}
