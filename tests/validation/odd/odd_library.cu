// libcu++ types, cooperative groups and CUB in forms that the other files do not have.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/thread/thread_search.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>
namespace cg = cooperative_groups;
// /// warplens
// n = 4007
// [scoped_atomics]
// grid = 5
// block = 128
// args = ["random:i32[n](0,99)", "zeros:i32[64]", "zeros:f32[64]", "n"]
// [phased]
// grid = 4
// block = 96
// args = ["random:i32[384]", "zeros:i32[384]"]
// [group_reductions]
// grid = 5
// block = 144
// args = ["random:i32[720](0,100)", "zeros:i32[720]", "zeros:f32[720]"]
// [labels]
// grid = 4
// block = 128
// args = ["random:i32[512](0,6)", "zeros:i32[512]"]
// [block_tools]
// grid = 4
// block = 128
// args = ["random:i32[n+2048]", "zeros:i32[4*512]", "zeros:i32[8]", "n"]
// [run_lengths]
// grid = 3
// block = 64
// args = ["random:u32[3*128](1,5)", "random:i32[3*128]", "zeros:i32[3*1024]"]
// [warp_tools]
// grid = 4
// block = 96
// args = ["random:i32[4*96*4]", "zeros:i32[4*96*4]", "zeros:i32[12]"]
// [standard_types]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:f32[2*n]", "zeros:f32[2*n]", "n"]
// [variants]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:u32[n]", "zeros:i32[n]", "n"]
// [latched]
// grid = 3
// block = 128
// args = ["random:i32[384]", "zeros:i32[384]"]
// ///
extern "C" __global__ void scoped_atomics(const int* x, int* a, float* f, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int v = x[i], k = v & 31;
    cuda::atomic_ref<int, cuda::thread_scope_device> d(a[k]);
    d.fetch_add(v, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_system> s(a[32 + (k & 7)]);
    s.fetch_max(v, cuda::memory_order_acq_rel);
    cuda::atomic_ref<int, cuda::thread_scope_block> b(a[40 + (k & 3)]);
    if (v & 1) b.fetch_or(v); else b.fetch_xor(0, cuda::memory_order_release);
    cuda::atomic_ref<float, cuda::thread_scope_device> g(f[k]);
    if (v < 30) g.fetch_add(1.0f, cuda::memory_order_relaxed);
    a[63] = d.load(cuda::memory_order_acquire) < 0 ? 1 : 0;
  }
}
extern "C" __global__ void phased(const int* x, int* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int box[96];
  if (threadIdx.x == 0) init(&bar, 96);
  __syncthreads();
  int i = blockIdx.x * 96 + threadIdx.x, v = x[i];
  for (int k = 0; k < 4; ++k) {
    box[threadIdx.x] = v;
    auto token = bar.arrive();
    v = v * 3 + k;
    bar.wait(std::move(token));
    v += box[(threadIdx.x + 31) % 96];
    bar.arrive_and_wait();
  }
  y[i] = v;
}
extern "C" __global__ void group_reductions(const int* x, int* y, float* z) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto quad = cg::tiled_partition<4>(block);
  int i = block.group_index().x * block.size() + block.thread_rank(), v = x[i];
  int s = cg::reduce(quad, v, cg::plus<int>()) + cg::inclusive_scan(quad, v, cg::greater<int>());
  float f = cg::reduce(quad, (float)v, [](float a, float b) { return a * 0.5f + b; });
  if (warp.meta_group_rank() < 4) { s ^= cg::reduce(warp, v, cg::bit_xor<int>()); s += cg::exclusive_scan(warp, v); }
  if (v & 1) { auto on = cg::coalesced_threads(); s += cg::reduce(on, v, cg::less<int>()) + on.thread_rank() * 100 + on.shfl(v, on.num_threads() / 2); }
  block.sync();
  y[i] = s + quad.shfl_xor(v, 2) + quad.any(v > 90) + quad.meta_group_rank();
  z[i] = f;
}
extern "C" __global__ void labels(const int* x, int* y) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  auto same = cg::labeled_partition(warp, v);
  int s = same.num_threads() * 1000 + same.thread_rank() + cg::reduce(same, i, cg::plus<int>());
  auto odd = cg::binary_partition(warp, v & 1);
  s += odd.shfl(i, odd.num_threads() - 1) * 3 + cg::reduce(odd, v, cg::greater<int>());
  cg::invoke_one(same, [&] { s += 7; });
  y[i] = s;
}
extern "C" __global__ void block_tools(const int* x, int* y, int* sums, int n) {
  using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
  using Reduce = cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_RAKING>;
  using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING>;
  using Shuffle = cub::BlockShuffle<int, 128>;
  __shared__ union { Load::TempStorage load; Store::TempStorage store; Reduce::TempStorage reduce; Scan::TempStorage scan; Shuffle::TempStorage shuffle; } t;
  int v[4];
  Load(t.load).Load(x + blockIdx.x * 512, v, n - blockIdx.x * 1100, -1);
  __syncthreads();
  int total = Reduce(t.reduce).Sum(v);
  __syncthreads();
  int most = Reduce(t.reduce).Reduce(v[0], [](int a, int b) { return a > b ? a : b; }, 100);
  __syncthreads();
  int all;
  Scan(t.scan).ExclusiveSum(v, v, all);
  __syncthreads();
  int other;
  Shuffle(t.shuffle).Offset(v[1], other, -3);
  __syncthreads();
  v[2] ^= threadIdx.x >= 3 ? other : 0;
  Store(t.store).Store(y + blockIdx.x * 512, v);
  if (threadIdx.x == 0) { sums[blockIdx.x] = total; sums[4 + blockIdx.x] = most ^ all; }
}
extern "C" __global__ void run_lengths(const unsigned* lengths, const int* values, int* out) {
  using Decode = cub::BlockRunLengthDecode<int, 64, 2, 4>;
  __shared__ Decode::TempStorage t;
  int v[2] = {values[blockIdx.x * 128 + threadIdx.x * 2], values[blockIdx.x * 128 + threadIdx.x * 2 + 1]};
  unsigned l[2] = {lengths[blockIdx.x * 128 + threadIdx.x * 2], lengths[blockIdx.x * 128 + threadIdx.x * 2 + 1]};
  unsigned size;
  Decode decode(t, v, l, size);
  for (unsigned at = 0; at < size; at += 256) {
    int items[4];
    decode.RunLengthDecode(items, at);
    for (int k = 0; k < 4; ++k) if (at + threadIdx.x * 4 + k < size && at + threadIdx.x * 4 + k < 1024) out[blockIdx.x * 1024 + at + threadIdx.x * 4 + k] = items[k];
  }
}
extern "C" __global__ void warp_tools(const int* x, int* y, int* sums) {
  using Exchange = cub::WarpExchange<int, 4>;
  using Reduce = cub::WarpReduce<int>;
  __shared__ Exchange::TempStorage t[3];
  __shared__ Reduce::TempStorage r[3];
  int w = threadIdx.x / 32, i = blockIdx.x * 96 + threadIdx.x, v[4];
  for (int k = 0; k < 4; ++k) v[k] = x[i * 4 + k];
  Exchange(t[w]).BlockedToStriped(v, v);
  int s = Reduce(r[w]).Sum(v[0] ^ v[3], 29);
  int heads = Reduce(r[w]).HeadSegmentedSum(v[1], v[2] & 1);
  if (threadIdx.x % 32 == 0) sums[blockIdx.x * 3 + w] = s + heads;
  for (int k = 0; k < 4; ++k) y[i * 4 + k] = v[k];
}
extern "C" __global__ void standard_types(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cuda::std::complex<float> z(x[2 * i], x[2 * i + 1]), c(0.3f, -0.2f), w = z;
  int k = 0;
  for (; k < 12 && norm(w) < 4.0f; ++k) w = w * w + c;
  cuda::std::array<float, 5> a{};
  for (int j = 0; j < 5; ++j) a[j] = x[(i * 5 + j) % (2 * n)];
  cuda::std::span<const float> s(a.data() + 1, 3);
  float sum = 0;
  for (float v : s) sum += v;
  auto pair = cuda::std::make_tuple(sum, k, w.real());
  cuda::std::optional<float> maybe;
  if (cuda::std::get<1>(pair) > 3) maybe = w.imag();
  auto [p, q, r] = pair;
  y[2 * i] = p + q + (isfinite(r) ? r : 0.f);
  y[2 * i + 1] = maybe.value_or(-1.0f) + (float)cuda::std::popcount((unsigned)i) + (float)cuda::std::countl_zero((unsigned)(i * 77 + 1)) + (float)cuda::std::bit_ceil((unsigned)i + 1);
}
struct Visit {
  __device__ int operator()(int v) const { return v * 2; }
  __device__ int operator()(float v) const { return (int)(v * 3.5f); }
  __device__ int operator()(char v) const { return v - 'a'; }
};
extern "C" __global__ void variants(const unsigned* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cuda::std::variant<int, float, char> v;
  unsigned u = x[i];
  if (u % 3 == 0) v = (int)(u >> 9); else if (u % 3 == 1) v = (float)(u >> 12); else v = (char)('a' + u % 26);
  int s = cuda::std::visit(Visit{}, v);
  if (cuda::std::holds_alternative<float>(v)) s += 5;
  y[i] = s + (int)v.index();
}
extern "C" __global__ void latched(const int* x, int* y) {
  __shared__ cuda::latch<cuda::thread_scope_block>* dummy;
  __shared__ alignas(16) unsigned char room[sizeof(cuda::latch<cuda::thread_scope_block>)];
  __shared__ alignas(16) unsigned char gate[sizeof(cuda::counting_semaphore<cuda::thread_scope_block, 4>)];
  __shared__ int box[128];
  auto* latch = (cuda::latch<cuda::thread_scope_block>*)room;
  auto* doors = (cuda::counting_semaphore<cuda::thread_scope_block, 4>*)gate;
  if (threadIdx.x == 0) { new (latch) cuda::latch<cuda::thread_scope_block>(4); new (doors) cuda::counting_semaphore<cuda::thread_scope_block, 4>(4); dummy = latch; }
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  box[threadIdx.x] = x[i];
  __syncwarp();
  if (threadIdx.x % 32 == 0) { doors->acquire(); latch->arrive_and_wait(); doors->release(); }
  __syncthreads();
  y[i] = box[127 - threadIdx.x] + (dummy == latch);
}
