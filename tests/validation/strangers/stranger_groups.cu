// Cooperative groups and CUB in ways that people use them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/std/functional>
// /// warplens
// [labelled]
// grid = 4
// block = 96
// args = ["random:i32[384](0,5)", "zeros:i32[384]", "zeros:i32[8]"]
// [filtered]
// grid = 5
// block = 128
// args = ["random:i32[5000](-50,50)", "zeros:i32[5000]", "zeros:i32[1]", "5000"]
// [tiles_of_eight]
// grid = 3
// block = 72
// args = ["random:f32[216]", "zeros:f32[216]", "zeros:i32[216]"]
// [tree_of_tiles]
// grid = 4
// block = 128
// args = ["random:i32[512](0,100)", "zeros:i32[512]"]
// [block_sort]
// grid = 3
// block = 128
// args = ["random:u32[1536](0,4294967295)", "random:i32[1536]", "zeros:u32[1536]", "zeros:i32[1536]"]
// [block_runs]
// grid = 4
// block = 96
// args = ["random:i32[1536](0,3)", "zeros:i32[1536]", "zeros:i32[4]"]
// [block_bins]
// grid = 4
// block = 128
// args = ["random:u8[4096](0,256)", "zeros:u32[1024]"]
// [block_steps]
// grid = 3
// block = 128
// args = ["random:f64[1152]", "zeros:f64[1152]", "zeros:f64[3]"]
// [warp_prefixes]
// grid = 4
// block = 96
// args = ["random:i32[384](0,20)", "zeros:i32[384]", "zeros:i32[12]"]
// [coalesced_adds]
// grid = 6
// block = 128
// args = ["random:i32[768](0,12)", "zeros:i32[12]", "zeros:i32[768]"]
// [whole_grid]
// grid = 12
// block = 64
// cooperative = true
// args = ["random:f32[768]", "zeros:f32[768]", "zeros:f32[1]", "3"]
// ///
namespace cg = cooperative_groups;
extern "C" {

__global__ void labelled(const int *labels, int *out, int *sums) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x, label = labels[i];
  auto same = cg::labeled_partition(warp, label);
  int total = cg::reduce(same, i & 15, cg::plus<int>());
  out[i] = total * 64 + same.thread_rank() * 2 + (same.size() > 4);
  if (same.thread_rank() == 0) atomicAdd(&sums[label], total);
}

__device__ int reserve(int *counter) {
  auto g = cg::coalesced_threads();
  int first = 0;
  if (g.thread_rank() == 0) first = atomicAdd(counter, g.size());
  return g.shfl(first, 0) + g.thread_rank();
}
__global__ void filtered(const int *in, int *out, int *count, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (in[i] > 0) { int at = reserve(count); out[at] = 1; }
}

__global__ void tiles_of_eight(const float *in, float *out, int *ranks) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i], top = cg::reduce(tile, v, cg::greater<float>());
  unsigned ballot = tile.ballot(v > 0);
  float scan = cg::inclusive_scan(tile, v);
  if (tile.any(v > 0.4f)) {
    float other = tile.shfl_xor(v, 3) + tile.shfl_down(scan, 2);
    top += other;
    tile.sync();
  }
  if (tile.all(v < 0.3f)) top -= tile.meta_group_rank();
  out[i] = top;
  ranks[i] = __popc(ballot) * 100 + tile.thread_rank() + tile.match_any((int)(v * 4));
}

}
template <class G> __device__ int sum_of(G g, int *s, int v) {
  int r = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    s[r] = v; g.sync();
    if (r < i) v += s[r + i];
    g.sync();
  }
  return g.thread_rank() == 0 ? v : -1;
}
extern "C" {
__global__ void tree_of_tiles(const int *in, int *out) {
  __shared__ int s[128];
  auto block = cg::this_thread_block();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int whole = sum_of(block, s, in[i]);
  auto tile = cg::tiled_partition<16>(block);
  int part = sum_of(tile, s + threadIdx.x / 16 * 16, in[i]);
  auto four = cg::tiled_partition<4>(tile);
  int small = cg::reduce(four, in[i], [](int a, int b) { return a * 3 + b; });
  out[i] = whole + part * 2 + small;
}

__global__ void block_sort(const unsigned *keys, const int *values, unsigned *sorted, int *moved) {
  using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using LoadV = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
  __shared__ union { typename Load::TempStorage load; typename LoadV::TempStorage load_v; typename Sort::TempStorage sort; } t;
  unsigned k[4]; int v[4];
  Load(t.load).Load(keys + blockIdx.x * 512, k);
  __syncthreads();
  LoadV(t.load_v).Load(values + blockIdx.x * 512, v);
  __syncthreads();
  Sort(t.sort).SortBlockedToStriped(k, v, 4, 20);
  cub::StoreDirectStriped<128>(threadIdx.x, sorted + blockIdx.x * 512, k);
  cub::StoreDirectStriped<128>(threadIdx.x, moved + blockIdx.x * 512, v);
}

__global__ void block_runs(const int *in, int *out, int *counts) {
  using Heads = cub::BlockDiscontinuity<int, 96>;
  using Scan = cub::BlockScan<int, 96, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Heads::TempStorage heads;
  __shared__ typename Scan::TempStorage scan;
  int items[4], flags[4], places[4], total;
  cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * 384, items);
  Heads(heads).FlagHeads(flags, items, cuda::std::not_equal_to<>{});
  Scan(scan).ExclusiveSum(flags, places, total);
  for (int i = 0; i < 4; i++)
    if (flags[i]) out[blockIdx.x * 384 + places[i]] = items[i] * 1000 + threadIdx.x * 4 + i;
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

__global__ void block_bins(const unsigned char *in, unsigned *out) {
  using Bins = cub::BlockHistogram<unsigned char, 128, 8, 256, cub::BLOCK_HISTO_SORT>;
  __shared__ typename Bins::TempStorage t;
  __shared__ unsigned bins[256];
  unsigned char items[8];
  cub::LoadDirectStriped<128>(threadIdx.x, in + blockIdx.x * 1024, items);
  Bins(t).Histogram(items, bins);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 128) out[blockIdx.x * 256 + i] = bins[i];
}

__global__ void block_steps(const double *in, double *out, double *most) {
  using Steps = cub::BlockAdjacentDifference<double, 128>;
  using Reduce = cub::BlockReduce<double, 128, cub::BLOCK_REDUCE_RAKING>;
  __shared__ typename Steps::TempStorage t;
  __shared__ typename Reduce::TempStorage r;
  double v[3], d[3];
  cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * 384, v);
  Steps(t).SubtractLeft(v, d, [](double a, double b) { return a - b; });
  double top = Reduce(r).Reduce(d, [](double a, double b) { return a > b ? a : b; });
  cub::StoreDirectBlocked(threadIdx.x, out + blockIdx.x * 384, d);
  if (threadIdx.x == 0) most[blockIdx.x] = top;
}

__global__ void warp_prefixes(const int *in, int *out, int *totals) {
  using Scan = cub::WarpScan<int, 16>;
  __shared__ typename Scan::TempStorage t[6];
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], a, b, total;
  Scan(t[threadIdx.x / 16]).Scan(v, a, b, [](int x, int y) { return x > y ? x : y; });
  Scan(t[threadIdx.x / 16]).ExclusiveSum(v, b, total);
  out[i] = a * 1000 + b;
  if ((threadIdx.x & 31) == 0) totals[i / 32] = total;
}

__global__ void coalesced_adds(const int *in, int *bins, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], depth = 0;
  while (v > 0) {
    auto active = cg::coalesced_threads();
    if (v & 1) {
      auto odd = cg::coalesced_threads();
      int sum = cg::reduce(odd, v, cg::plus<int>());
      if (odd.thread_rank() == odd.size() - 1) atomicAdd(&bins[depth % 12], sum);
      v -= 1 + (odd.thread_rank() & 1);
    } else v -= 2 + active.thread_rank() % 3;
    depth++;
  }
  out[i] = depth;
}

__global__ void whole_grid(float *a, float *b, float *norm, int rounds) {
  auto grid = cg::this_grid();
  unsigned i = grid.thread_rank(), n = grid.size();
  for (int k = 0; k < rounds; k++) {
    b[i] = 0.25f * (a[(i + n - 1) % n] + 2 * a[i] + a[(i + 1) % n]);
    grid.sync();
    a[i] = b[i];
    grid.sync();
  }
  float v = rintf(a[i] * 1024);
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  v = cg::reduce(tile, v, cg::plus<float>());
  if (tile.thread_rank() == 0) atomicAdd(norm, v);
}
}
