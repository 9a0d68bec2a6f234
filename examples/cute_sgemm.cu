// /// warplens
// n = 256
//
// [sgemm]
// grid = ["n / 64", "n / 64"]
// block = 256
// args = ["a = random f32[n * n]", "b = random f32[n * n]", "c = zeros f32[n * n]", "n"]
// ///
#include <cute/tensor.hpp>

using namespace cute;

__global__ void sgemm(const float* a, const float* b, float* c, int n) {
  auto A = make_tensor(make_gmem_ptr(a), make_shape(n, n), make_stride(n, Int<1>{}));
  auto B = make_tensor(make_gmem_ptr(b), make_shape(n, n), make_stride(n, Int<1>{}));
  auto C = make_tensor(make_gmem_ptr(c), make_shape(n, n), make_stride(n, Int<1>{}));
  auto tile = make_shape(Int<64>{}, Int<64>{}, Int<8>{});
  auto at = make_coord(blockIdx.x, blockIdx.y, _);
  Tensor gA = local_tile(A, tile, at, Step<_1, X, _1>{});
  Tensor gB = local_tile(B, tile, at, Step<X, _1, _1>{});
  Tensor gC = local_tile(C, tile, at, Step<_1, _1, X>{});

  auto rows = make_layout(make_shape(Int<64>{}, Int<8>{}), make_stride(Int<1>{}, Int<65>{}));
  __shared__ float left[cosize_v<decltype(rows)>], right[cosize_v<decltype(rows)>];
  Tensor sA = make_tensor(make_smem_ptr(left), rows);
  Tensor sB = make_tensor(make_smem_ptr(right), rows);

  auto loads = make_layout(make_shape(Int<32>{}, Int<8>{}), LayoutRight{});
  auto threads = make_layout(make_shape(Int<16>{}, Int<16>{}));
  Tensor tAgA = local_partition(gA, loads, threadIdx.x);
  Tensor tAsA = local_partition(sA, loads, threadIdx.x);
  Tensor tBgB = local_partition(gB, loads, threadIdx.x);
  Tensor tBsB = local_partition(sB, loads, threadIdx.x);
  Tensor tCsA = local_partition(sA, threads, threadIdx.x, Step<_1, X>{});
  Tensor tCsB = local_partition(sB, threads, threadIdx.x, Step<X, _1>{});
  Tensor tCgC = local_partition(gC, threads, threadIdx.x, Step<_1, _1>{});
  Tensor tCrC = make_tensor_like(tCgC);
  clear(tCrC);
  for (int k = 0; k < size<2>(tAgA); ++k) {
    copy(tAgA(_, _, k), tAsA);
    copy(tBgB(_, _, k), tBsB);
    __syncthreads();
    gemm(tCsA, tCsB, tCrC);
    __syncthreads();
  }
  copy(tCrC, tCgC);
}
