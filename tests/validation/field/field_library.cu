// Kernels written with the barriers, pipelines and atomics of libcu++ and of cooperative groups, and with more of CUB
// (launches: launches.toml).
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

// Sums of tiles that come by an asynchronous copy of the whole block.
extern "C" __global__ void group_copies(const int* x, int* y, int tiles) {
  __shared__ int tile[256];
  cg::thread_block block = cg::this_thread_block();
  int sum = 0;
  for (int k = 0; k < tiles; ++k) {
    cg::memcpy_async(block, tile, x + ((size_t)blockIdx.x * tiles + k) * 256, sizeof tile);
    cg::wait(block);
    sum += tile[threadIdx.x] * tile[255 - threadIdx.x];
    block.sync();
  }
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}
#if __CUDA_ARCH__ >= 800
// The same with two stages of a pipeline.
extern "C" __global__ void pipeline_stages(const float4* x, float* y, int tiles) {
  __shared__ float4 tile[2][64];
  auto pipe = cuda::make_pipeline();
  const float4* from = x + (size_t)blockIdx.x * tiles * 64;
  auto bring = [&](int k) {
    pipe.producer_acquire();
    if (k < tiles) cuda::memcpy_async(&tile[k & 1][threadIdx.x], from + k * 64 + threadIdx.x, cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
  };
  float sum = 0;
  bring(0);
  for (int k = 0; k < tiles; ++k) {
    bring(k + 1);
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    __syncthreads();
    float4 v = tile[k & 1][63 - threadIdx.x];
    sum += v.x - v.y * v.z + v.w;
    __syncthreads();
    pipe.consumer_release();
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}
// Arrives, does something else, and waits; two phases a round.
extern "C" __global__ void barrier_phases(const int* x, int* y, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int s[128];
  if (threadIdx.x == 0) init(&barrier, 128);
  __syncthreads();
  int v = x[blockIdx.x * 128 + threadIdx.x], kept = v;
  for (int k = 0; k < rounds; ++k) {
    s[threadIdx.x] = v;
    auto token = barrier.arrive();
    kept = kept * 3 + 1;
    barrier.wait(cuda::std::move(token));
    v += s[(threadIdx.x + 1 + k) & 127];
    barrier.arrive_and_wait();
  }
  y[blockIdx.x * 128 + threadIdx.x] = v ^ kept;
}
#endif
// Scans of tiles of 16 threads; tiles of those with the same digit.
extern "C" __global__ void group_scans(const int* x, int* y, int* z, int n) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] : 0;
  int before = cg::exclusive_scan(tile, v, cg::plus<int>());
  int most = cg::inclusive_scan(tile, v, cg::greater<int>());
  auto same = cg::labeled_partition(cg::coalesced_threads(), v % 5);
  if (i < n) { y[i] = before * 4 + most; z[i] = same.thread_rank() * 100 + same.size() + same.shfl(v, 0); }
}
// Atomics of libcu++ on places in memory: least, greatest, sum.
extern "C" __global__ void atomic_places(const int* x, int* least, unsigned long long* sum, float* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i];
  cuda::atomic_ref<int, cuda::thread_scope_device>(least[v & 15]).fetch_min(v, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(*sum).fetch_add((unsigned)v, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_device>(total[v & 7]).fetch_add((float)v, cuda::memory_order_relaxed);
}
extern "C" __global__ void cub_merge_sort(const int* x, int* y) {
  using Sort = cub::BlockMergeSort<int, 128, 5>;
  __shared__ Sort::TempStorage room;
  int v[5], base = blockIdx.x * 640 + threadIdx.x * 5;
  for (int k = 0; k < 5; ++k) v[k] = x[base + k];
  Sort(room).Sort(v, [](int a, int b) { return (a ^ 85) < (b ^ 85); });
  for (int k = 0; k < 5; ++k) y[base + k] = v[k];
}
extern "C" __global__ void cub_warp_sort(const int* x, int* y) {
  using Sort = cub::WarpMergeSort<int, 4, 16>;
  __shared__ Sort::TempStorage rooms[8];
  int v[4], base = (blockIdx.x * 128 + threadIdx.x) * 4;
  for (int k = 0; k < 4; ++k) v[k] = x[base + k];
  Sort(rooms[threadIdx.x / 16]).Sort(v, [](int a, int b) { return a < b; });
  *(int4*)(y + base) = make_int4(v[0], v[1], v[2], v[3]);
}
extern "C" __global__ void cub_exchange(const int* x, int* y) {
  using Exchange = cub::BlockExchange<int, 96, 6>;
  __shared__ Exchange::TempStorage room;
  int v[6];
  for (int k = 0; k < 6; ++k) v[k] = x[blockIdx.x * 576 + k * 96 + threadIdx.x];
  Exchange(room).StripedToBlocked(v, v);
  for (int k = 1; k < 6; ++k) v[k] += v[k - 1];
  __syncthreads();
  Exchange(room).BlockedToWarpStriped(v, v);
  for (int k = 0; k < 6; ++k) y[blockIdx.x * 576 + k * 96 + threadIdx.x] = v[k];
}
extern "C" __global__ void cub_runs(const int* x, int* y, int* bins) {
  using Heads = cub::BlockDiscontinuity<int, 128>;
  using Change = cub::BlockAdjacentDifference<int, 128>;
  using Bins = cub::BlockHistogram<unsigned char, 128, 4, 64>;
  __shared__ union { Heads::TempStorage heads; Change::TempStorage change; Bins::TempStorage bins; } room;
  __shared__ int own[64];
  int v[4], head[4], change[4], base = blockIdx.x * 512 + threadIdx.x * 4;
  unsigned char small[4];
  for (int k = 0; k < 4; ++k) { v[k] = x[base + k] >> 7; small[k] = x[base + k] & 63; }
  Heads(room.heads).FlagHeads(head, v, [](int a, int b) { return a != b; });
  __syncthreads();
  Change(room.change).SubtractLeft(v, change, [](int a, int b) { return a - b; });
  __syncthreads();
  Bins(room.bins).Histogram(small, own);
  __syncthreads();
  for (int k = 0; k < 4; ++k) y[base + k] = change[k] * 2 + head[k];
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
