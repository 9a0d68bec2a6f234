// Products by CUTLASS' collective builders for sm_90, for the fourth blind list (CUTLASS 4.2.0), for each PART by
//   nvcc -arch sm_90a -O1 -Xcicc -O3 -std=c++17 --expt-relaxed-constexpr -DPART=0 fourth_cutlass.cu -o products_0 -I...
// ./products_0 NAME: one launch;  ROUNDS=15 ./products_0 NAME: its times.
#include "timed_launch.cuh"
#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"
#include <cstring>
using namespace cute;
using namespace cutlass::gemm;
namespace epi = cutlass::epilogue;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;

// One product: A of rows, B of columns, C and D of rows.
template <class In, class Out, class Sum, class Tile, class Cluster, class Schedule, class Epilogue,
          class Scheduler = PersistentScheduler, int Align = 16, class Fusion = void>
struct BuiltProduct {
  using Scale = cute::conditional_t<std::is_integral_v<Sum>, Sum, float>;
  using Plain = epi::fusion::LinearCombination<Out, Scale, Out, Scale>;
  using Fused = cute::conditional_t<std::is_void_v<Fusion>, Plain, Fusion>;
  using Finish = typename epi::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, epi::collective::EpilogueTileAuto, Sum, Scale,
      Out, Row, 16 / sizeof(Out), Out, Row, 16 / sizeof(Out), Epilogue, Fused>::CollectiveOp;
  using Mainloop = typename collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, In, Row, Align / sizeof(In), In, Column, Align / sizeof(In),
      Sum, Tile, Cluster, collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Finish::SharedStorage))>,
      Schedule>::CollectiveOp;
  using Kernel = kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Finish, Scheduler>;
  using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

  static int run(const char* name, int m, int n, int k, int l, int splits) {
    In *a = filled<In>(size_t(m) * k * l, 1), *b = filled<In>(size_t(n) * k * l, 2);
    Out *c = filled<Out>(size_t(m) * n * l, 3), *d = filled<Out>(size_t(m) * n * l, 4);
    auto sa = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, make_shape(m, k, l));
    auto sb = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, make_shape(n, k, l));
    auto sc = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, make_shape(m, n, l));
    auto sd = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, make_shape(m, n, l));
    typename Gemm::Arguments arguments{
        l > 1 ? GemmUniversalMode::kBatched : GemmUniversalMode::kGemm, {m, n, k, l}, {a, sa, b, sb},
        {{}, c, sc, d, sd}};
    arguments.epilogue.thread.alpha = Scale(1);
    arguments.epilogue.thread.beta = Scale(0);
    if constexpr (!std::is_void_v<Fusion>) {
      arguments.epilogue.thread.beta = Scale(1);
      arguments.epilogue.thread.bias_ptr = filled<Out>(m, 5);
    }
    if constexpr (std::is_same_v<Scheduler, StreamKScheduler>) arguments.scheduler.splits = splits;
    Gemm gemm;
    void* workspace;
    cudaMalloc(&workspace, Gemm::get_workspace_size(arguments) + 256);
    int can = int(gemm.can_implement(arguments)), init = int(gemm.initialize(arguments, workspace));
    if (can || init) return printf("%s: can %d init %d\n", name, can, init), 1;
    timed(name, [&] {
      if constexpr (std::is_same_v<Scheduler, StreamKScheduler>) gemm.initialize(arguments, workspace);
      gemm.run();
    });
    return 0;
  }
};

#define CASE(NAME, M, N, K, L, SPLITS, ...) \
  if (!strcmp(name, NAME)) return BuiltProduct<__VA_ARGS__>::run(NAME, M, N, K, L, SPLITS)

using F16 = cutlass::half_t;
using BF16 = cutlass::bfloat16_t;
using TF32 = cutlass::tfloat32_t;
using E4M3 = cutlass::float_e4m3_t;

int main(int, char** argv) {
  const char* name = argv[1];
#if PART == 0
  CASE("pingpong_bf16", 1536, 2048, 768, 1, 1, BF16, float, float, Shape<_64, _128, _64>, Shape<_1, _1, _1>,
       KernelTmaWarpSpecializedPingpong, epi::TmaWarpSpecialized);
  CASE("cooperative_tf32", 1024, 2048, 512, 1, 1, TF32, float, float, Shape<_128, _128, _32>, Shape<_1, _2, _1>,
       KernelTmaWarpSpecializedCooperative, epi::TmaWarpSpecializedCooperative);
  CASE("specialised_f16", 1024, 1024, 2048, 1, 1, F16, F16, float, Shape<_128, _128, _64>, Shape<_2, _1, _1>,
       KernelTmaWarpSpecialized, epi::TmaWarpSpecialized);
  CASE("async_f16", 1024, 1536, 1024, 1, 1, F16, F16, float, Shape<_128, _128, _64>, Shape<_1, _1, _1>,
       KernelCpAsyncWarpSpecialized, epi::NoSmemWarpSpecialized, PersistentScheduler, 8);
#elif PART == 1
  CASE("cooperative_fp8", 1024, 2048, 2048, 1, 1, E4M3, F16, float, Shape<_128, _128, _128>, Shape<_1, _1, _1>,
       KernelTmaWarpSpecializedCooperative, epi::TmaWarpSpecializedCooperative);
  CASE("split_f16", 512, 768, 6144, 1, 4, F16, F16, float, Shape<_128, _128, _64>, Shape<_1, _1, _1>,
       KernelTmaWarpSpecializedCooperative, epi::TmaWarpSpecializedCooperative, StreamKScheduler);
  CASE("batched_f16_bias", 512, 512, 512, 12, 1, F16, F16, float, Shape<_64, _256, _64>, Shape<_1, _1, _1>,
       KernelTmaWarpSpecializedPingpong, epi::TmaWarpSpecialized, PersistentScheduler, 16,
       epi::fusion::LinCombPerRowBiasEltAct<epi::thread::ReLu, F16, float, F16, F16, float>);
  CASE("pingpong_int8", 1024, 1024, 2048, 1, 1, int8_t, int32_t, int32_t, Shape<_64, _128, _128>, Shape<_2, _1, _1>,
       KernelTmaWarpSpecializedPingpong, epi::TmaWarpSpecialized);
#elif PART == 2
  CASE("cooperative_int8", 2048, 2048, 1024, 1, 1, int8_t, int32_t, int32_t, Shape<_128, _256, _128>, Shape<_1, _1, _1>,
       KernelTmaWarpSpecializedCooperative, epi::TmaWarpSpecializedCooperative);
#endif
  return 2;
}
