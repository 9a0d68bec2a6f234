// Blocks in clusters that read, write and count in each other's shared memory.
// /// warplens
// [cluster_histogram]
// grid = 8
// block = 128
// shared = 256
// args = ["random:i32[4096](0,1048576)", "zeros:i32[256]", "4096"]
// [cluster_exchange]
// grid = [4, 4]
// block = [32, 8]
// args = ["random:f32[4096]", "zeros:f32[4096]", "128"]
// [cluster_push]
// grid = 6
// block = 64
// args = ["random:f32[1536]", "zeros:f32[1536]"]
// [cluster_asm]
// grid = 6
// block = 64
// args = ["random:i32[384]", "zeros:i32[384]"]
// [cluster_names]
// grid = [4, 6, 2]
// block = 32
// args = ["zeros:u32[768]"]
// [cluster_own]
// grid = 8
// block = 64
// args = ["random:i32[64]", "zeros:i32[512]"]
// [cluster_given]
// grid = 6
// block = 64
// cluster = 2
// args = ["random:i32[384](0,1000)", "zeros:i32[384]", "zeros:f32[24]"]
// [cluster_none]
// grid = [3, 2]
// block = 32
// args = ["zeros:u32[36]"]
// ///
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" {
__global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const int *in, int *bins, int n) {
  extern __shared__ int mine[];
  auto cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int bin = in[i] & 255, owner = bin / 64;
    int *there = cluster.map_shared_rank(mine, owner);
    atomicAdd(there + bin % 64, 1);
  }
  cluster.sync();
  int *out = bins + rank * 64;
  for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(out + i, mine[i]);
}
__global__ void __cluster_dims__(2, 2, 1) cluster_exchange(const float *in, float *out, int w) {
  __shared__ float tile[8][33];
  auto cluster = cg::this_cluster();
  dim3 at = cluster.block_index();
  tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 8 + threadIdx.y) * w + blockIdx.x * 32 + threadIdx.x];
  cluster.sync();
  float sum = 0;
  for (unsigned r = 0; r < 4; r++) {
    float *other = cluster.map_shared_rank(&tile[0][0], r);
    sum += other[threadIdx.y * 33 + threadIdx.x] * (r + 1);
  }
  cluster.sync();
  out[(blockIdx.y * 8 + threadIdx.y) * w + blockIdx.x * 32 + threadIdx.x] = sum + at.x + 2 * at.y;
}
__global__ void __cluster_dims__(2, 1, 1) cluster_push(const float4 *in, float4 *out) {
  __shared__ float4 box[64];
  __shared__ unsigned flags[4];
  auto cluster = cg::this_cluster();
  unsigned peer = cluster.block_rank() ^ 1;
  if (threadIdx.x < 4) flags[threadIdx.x] = 0;
  cluster.sync();
  float4 v = in[blockIdx.x * 64 + threadIdx.x];
  *cluster.map_shared_rank(&box[63 - threadIdx.x], peer) = v;
  atomicOr(cluster.map_shared_rank(&flags[threadIdx.x & 3], peer), 1u << (threadIdx.x >> 2));
  cluster.barrier_arrive();
  v.x += 1;
  cluster.barrier_wait();
  float4 o = box[threadIdx.x];
  out[blockIdx.x * 64 + threadIdx.x] = make_float4(o.x + v.x, o.y, __uint_as_float(flags[threadIdx.x & 3]), v.w);
  cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) cluster_asm(const int *in, int *out) {
  __shared__ int box[64];
  unsigned rank, mine = (unsigned)__cvta_generic_to_shared(box + threadIdx.x), there;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  box[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine), "r"(rank ^ 1));
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  int v, w;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there));
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(w) : "r"(there), "r"(5));
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  unsigned id, n; asm("mov.u32 %0, %%clusterid.x;" : "=r"(id)); asm("mov.u32 %0, %%nclusterid.x;" : "=r"(n));
  out[blockIdx.x * 64 + threadIdx.x] = v + w * 3 + box[threadIdx.x] + id * 1000 + n * 100000;
}
}
extern "C" __global__ void __cluster_dims__(2, 2, 2) cluster_names(unsigned *out) {
  unsigned v[20];
#define S(i, n) asm volatile("mov.u32 %0, %%" #n ";" : "=r"(v[i]));
  S(0, clusterid.x) S(1, clusterid.y) S(2, clusterid.z) S(3, nclusterid.x) S(4, nclusterid.y) S(5, nclusterid.z)
  S(6, cluster_ctaid.x) S(7, cluster_ctaid.y) S(8, cluster_ctaid.z) S(9, cluster_nctaid.x) S(10, cluster_nctaid.y) S(11, cluster_nctaid.z)
  S(12, cluster_ctarank) S(13, cluster_nctarank)
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v[14]));
  unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (threadIdx.x == 0) for (int i = 0; i < 15; i++) out[b * 16 + i] = v[i];
}
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_own(const int *in, int *out) {  // its own block through the cluster's window
  __shared__ int box[64];
  unsigned mine = (unsigned)__cvta_generic_to_shared(box + threadIdx.x), rank, there;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine), "r"(rank));
  box[threadIdx.x] = in[threadIdx.x];
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  int v;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there));
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there ^ 4), "r"(v + 1) : "memory");
  asm volatile("red.shared::cluster.add.u32 [%0], %1;" :: "r"(there), "r"(3) : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x];
}
// Its clusters are what the launch says; sums of floats in the next block's shared memory.
extern "C" __global__ void cluster_given(const int *in, int *out, float *sums) {
  __shared__ int own[64];
  __shared__ float sum[4];
  auto cluster = cg::this_cluster();
  int i = blockIdx.x * 64 + threadIdx.x;
  own[threadIdx.x] = in[i];
  if (threadIdx.x < 4) sum[threadIdx.x] = 0;
  cluster.sync();
  unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  out[i] = 1000 * cluster.num_blocks() + 10000 * rank + cluster.map_shared_rank(own, next)[63 - threadIdx.x];
  if (threadIdx.x % 16 == 3) atomicAdd(cluster.map_shared_rank(sum, next) + threadIdx.x / 16, 0.5f * in[i]);
  cluster.sync();
  if (threadIdx.x < 4) sums[blockIdx.x * 4 + threadIdx.x] = sum[threadIdx.x];
}
// Started without clusters: each block is one.
extern "C" __global__ void cluster_none(unsigned *out) {
  unsigned v[6];
  S(0, clusterid.x) S(1, nclusterid.y) S(2, cluster_ctarank) S(3, cluster_nctarank) S(4, cluster_nctaid.x) S(5, nwarpid)
  unsigned b = blockIdx.x + gridDim.x * blockIdx.y;
  if (threadIdx.x == 0) for (int i = 0; i < 6; i++) out[b * 6 + i] = v[i];
}
