// cp.async, three tiles ahead: the copies of the next tiles are on their way while one is multiplied.
#include "ptx.cuh"

constexpr int STAGES = 3;
struct Tiles { bf16 a[STAGES][128 * 64], b[STAGES][128 * 64]; };

extern "C" __global__ void __launch_bounds__(256) gemm(const bf16 *a, const bf16 *b, bf16 *c, int n) {
  extern __shared__ __align__(128) unsigned char memory[];
  Tiles &s = *(Tiles *)memory;
  int t = threadIdx.x, lane = t % 32, warp = t / 32, y = warp / 4 * 64, x = warp % 4 * 32, tiles = n / 64;
  a += (size_t)blockIdx.y * 128 * n, b += (size_t)blockIdx.x * 128 * n;
  auto fetch = [&](int tile) {
    if (tile < tiles)
      for (int i = t; i < 1024; i += 256) {
        size_t from = (size_t)(i / 8) * n + tile * 64 + i % 8 * 8;
        copy_async(swizzled(s.a[tile % STAGES], i / 8, i % 8), a + from);
        copy_async(swizzled(s.b[tile % STAGES], i / 8, i % 8), b + from);
      }
    commit_copies();
  };
  float d[4][4][4] = {};
  for (int tile = 0; tile < STAGES - 1; ++tile) fetch(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    wait_for_copies<STAGES - 2>();
    __syncthreads();  // this tile is there, and nobody reads the one before it any more
    fetch(tile + STAGES - 1);
    multiply_tiles(d, s.a[tile % STAGES] + y * 64, s.b[tile % STAGES] + x * 64, lane);
  }
  store_fragments(c, n, blockIdx.y * 128 + y + lane / 4, blockIdx.x * 128 + x + lane % 4 * 2, d);
}
