// Kernels written with CUB's blocks and warps, as people write them (launches: launches.toml).
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

extern "C" __global__ void cub_sort(const unsigned* x, unsigned* y) {
  using Load = cub::BlockLoad<unsigned, 128, 8, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<unsigned, 128, 8>;
  using Store = cub::BlockStore<unsigned, 128, 8, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union { Load::TempStorage load; Sort::TempStorage sort; Store::TempStorage store; } room;
  unsigned keys[8];
  Load(room.load).Load(x + blockIdx.x * 1024, keys);
  __syncthreads();
  Sort(room.sort).Sort(keys, 0, 16);
  __syncthreads();
  Store(room.store).Store(y + blockIdx.x * 1024, keys);
}
extern "C" __global__ void cub_scan(const int* x, int* y, int* totals, int n) {
  using Scan = cub::BlockScan<int, 256, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ Scan::TempStorage room;
  int base = blockIdx.x * 1024 + threadIdx.x * 4, v[4], total;
  for (int k = 0; k < 4; ++k) v[k] = base + k < n ? x[base + k] : 0;
  Scan(room).ExclusiveSum(v, v, total);
  for (int k = 0; k < 4; ++k) if (base + k < n) y[base + k] = v[k];
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}
extern "C" __global__ void cub_reduce(const float* x, float* y, int n) {
  using Reduce = cub::BlockReduce<float, 192, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  __shared__ Reduce::TempStorage room;
  float v = 0;
  for (int i = blockIdx.x * 192 + threadIdx.x; i < n; i += gridDim.x * 192) v = fmaxf(v, x[i]);
  float most = Reduce(room).Reduce(v, [](float a, float b) { return a > b ? a : b; });
  if (threadIdx.x == 0) y[blockIdx.x] = most;
}
extern "C" __global__ void cub_warps(const int* x, int* y, long long* sums, int n) {
  using Scan = cub::WarpScan<int, 16>;
  using Sum = cub::WarpReduce<long long>;
  __shared__ Scan::TempStorage rooms[16];
  __shared__ Sum::TempStorage others[8];
  int i = blockIdx.x * 256 + threadIdx.x, v = i < n ? x[i] : 0, out;
  Scan(rooms[threadIdx.x / 16]).InclusiveScan(v, out, [](int a, int b) { return a > b ? a : b; });
  if (i < n) y[i] = out;
  long long sum = Sum(others[threadIdx.x / 32]).Sum((long long)v * v);
  if ((threadIdx.x & 31) == 0) sums[i / 32] = sum;
}
