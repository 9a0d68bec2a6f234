// Times of CuTe's tutorials, for the third blind list: hopper/wgmma_sm90.cu, hopper/wgmma_tma_sm90.cu and sgemm_sm80.cu of
// CUTLASS 4.2.0's examples/cute/tutorial, compiled by
//   nvcc -arch sm_90a -O2 -std=c++17 --expt-relaxed-constexpr third_cute.cu -DTUTORIAL='"hopper/wgmma_sm90.cu"'
//     -DCALL=gemm_nt -DROWS=1024 -DCOLUMNS=2048 -DDEPTH=512 -I...
// (wgmma_tma_sm90 and sgemm_sm80: gemm_tn, 2048 x 1024 x 1024 and 1024 x 1024 x 1024).  ROUNDS=15 ./a.out: cold, L2 swept
// by reading, the median, the second lowest and the second highest; without ROUNDS one launch.
#define main tutorial_main
#include TUTORIAL
#undef main
#include "timed_launch.cuh"

int main() {
  using H = cute::half_t;
  int m = ROWS, n = COLUMNS, k = DEPTH;
  bool turned = sizeof(TUTORIAL) == sizeof("hopper/wgmma_sm90.cu");
  H *a = filled<H>(size_t(m) * k, 1), *b = filled<H>(size_t(n) * k, 2), *c = filled<H>(size_t(m) * n, 3);
  timed(TUTORIAL, [&] { CALL(m, n, k, H(1.0f), a, turned ? m : k, b, turned ? n : k, H(0.0f), c, m); });
}
