// Blocks and warps that have more to do than others: who is active how long.
extern "C" {
#define WORK(rounds) _Pragma("unroll 1") for (int r = 0; r < (rounds); ++r) { UNROLLED(16) { a = fmaf(a, b, 1.5f); b = fmaf(b, c, 1.5f); } }
#define END if (a + b == UNLIKELY) sink[0] = a;
__global__ void equal(float* sink, int rounds) {
  float a = F(0), b = F(1), c = F(2);
  WORK(rounds)
  END
}
// One block of `every` has `times` the work; or one warp of a block; or each block some of it, as if drawn at random.
__global__ void some_blocks(float* sink, int rounds, int every, int times) {
  float a = F(0), b = F(1), c = F(2);
  WORK(blockIdx.x % every ? rounds : rounds * times)
  END
}
__global__ void some_warps(float* sink, int rounds, int every, int times) {
  float a = F(0), b = F(1), c = F(2);
  WORK(threadIdx.x / 32 % every ? rounds : rounds * times)
  END
}
__global__ void mixed_blocks(float* sink, int rounds, int every, int times) {
  float a = F(0), b = F(1), c = F(2);
  unsigned draw = blockIdx.x * 2654435761u >> 16;
  WORK(rounds * (1 + draw % every * draw % every * times / every))
  END
}
// The last blocks of the grid have more to do than the first: work that grows, and that shrinks.
__global__ void growing(float* sink, int rounds, int every, int times) {
  float a = F(0), b = F(1), c = F(2);
  WORK(rounds + rounds * (int)blockIdx.x / (int)gridDim.x * times)
  END
}
__global__ void shrinking(float* sink, int rounds, int every, int times) {
  float a = F(0), b = F(1), c = F(2);
  WORK(rounds + rounds * ((int)gridDim.x - (int)blockIdx.x) / (int)gridDim.x * times)
  END
}
// A thread loads once, stores once, or both, in blocks of all sizes: what a short launch is made of.
__global__ void load_once(const float* x, float* sink) {
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (v == UNLIKELY) sink[0] = v;
}
__global__ void store_once(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void both_once(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + 1;
}
}
