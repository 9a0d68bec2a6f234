// The clock's low word, hints to L2 by the tensor memory accelerator, pipelines whose threads have roles.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
// /// warplens
// n = 3000
// [laps]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:i32[n]", "zeros:i32[n]", "n"]
// [hints]
// grid = "ceil(n / 256)"
// block = 256
// args = ["random:i32[n]", "zeros:i32[n]", "n"]
// [producers]
// grid = 3
// block = 256
// args = ["random:i32[3*6*128](0,1000)", "zeros:i32[3*128]"]
// [takers]
// grid = 2
// block = 256
// args = ["random:i32[2*4*256](0,1000)", "zeros:i32[2*256]"]
// [leavers]
// grid = 4
// block = 128
// args = ["random:i32[512](0,1000)", "zeros:i32[4*96]"]
// ///
__device__ __forceinline__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}
extern "C" __global__ void laps(const int* x, int* y, int n) {
  __shared__ unsigned starts[96];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  starts[threadIdx.x] = now();
  __syncthreads();
  if (i >= n) return;
  int s = x[i];
  for (int k = 0; k < 5; ++k) s = s * 5 + (s >> 3);
  y[i] = s + (now() - starts[threadIdx.x ^ 1] - 1 < 1u << 24);
}
extern "C" __global__ void hints(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x % 8 == 0 && i < n / 128 * 128)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 128;" ::"l"(x + (i & ~31)) : "memory");
#endif
#if __CUDA_ARCH__ >= 800
  if (i < n / 128 * 128) {
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(x + (i & ~31)) : "memory");
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(y + (i & ~31)) : "memory");
  }
#endif
  y[i] = 3 * x[i];
}
extern "C" __global__ void producers(const int* x, int* y) {
  constexpr int stages = 2;
  __shared__ alignas(16) int box[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  bool gives = threadIdx.x < 128;
  auto role = gives ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state, role);
  const int* from = x + blockIdx.x * 6 * 128;
  int sum = 0;
  for (int k = 0; k < 6; ++k)
    if (gives) {
      pipe.producer_acquire();
      cuda::memcpy_async(&box[k % stages][threadIdx.x], from + k * 128 + threadIdx.x, sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum = sum * 3 + box[k % stages][255 - threadIdx.x];
      pipe.consumer_release();
    }
  if (!gives) y[blockIdx.x * 128 + threadIdx.x - 128] = sum;
}
extern "C" __global__ void takers(const int* x, int* y) {
  constexpr int stages = 2;
  __shared__ alignas(16) int box[stages][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int* from = x + blockIdx.x * 4 * 256;
  int sum = 0;
  for (int k = 0, ahead = 0; k < 4; ++k) {
    for (; ahead < 4 && ahead < k + stages; ++ahead) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, box[ahead % stages], from + ahead * 256, cuda::aligned_size_t<16>(1024), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum = sum * 3 + box[k % stages][255 - threadIdx.x];
    pipe.consumer_release();
  }
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}
extern "C" __global__ void leavers(const int* x, int* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int box[128];
  if (threadIdx.x == 0) init(&bar, 128);
  __syncthreads();
  box[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  if (threadIdx.x >= 96) return bar.arrive_and_drop();
  auto token = bar.arrive();
  int own = threadIdx.x * 3;
  bar.wait(std::move(token));
  int sum = own + box[127 - threadIdx.x];
  (void)bar.arrive();
  bar.wait_parity(true);
  y[blockIdx.x * 96 + threadIdx.x] = sum;
}
