// Matrix products and co-operation of threads, as people write them (launches: launches.toml).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
using uint = unsigned;

#if __CUDA_ARCH__ >= 800
// bfloat16 product by mma.sync: 64 x 64 a block of 4 warps, 32 x 32 a warp; b is given by columns.
__device__ void fragments(uint (&r)[4], const __nv_bfloat16* p) {
  uint at = (uint)__cvta_generic_to_shared(p);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
extern "C" __global__ void gemm_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n) {
  __shared__ __align__(16) __nv_bfloat16 s[64][40], t[64][40];
  int tid = threadIdx.x, lane = tid & 31, wm = (tid >> 5 & 1) * 32, wn = (tid >> 6) * 32;
  int row = blockIdx.y * 64, col = blockIdx.x * 64;
  float sum[2][4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 32) {
    for (int e = tid; e < 256; e += 128) {
      int r = e >> 2, q = (e & 3) * 8;
      *(uint4*)&s[r][q] = *(const uint4*)&a[(size_t)(row + r) * n + k0 + q];
      *(uint4*)&t[r][q] = *(const uint4*)&b[(size_t)(col + r) * n + k0 + q];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      uint x[2][4], y[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        fragments(x[i], &s[wm + 16 * i + (lane & 15)][k + (lane >> 4) * 8]);
        fragments(y[i], &t[wn + 16 * i + (lane & 7) + (lane >> 4) * 8][k + (lane >> 3 & 1) * 8]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                       : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
                       : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j / 2][j % 2 * 2]), "r"(y[j / 2][j % 2 * 2 + 1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int r = row + wm + 16 * i + lane / 4, q = col + wn + 8 * j + lane % 4 * 2;
      *(float2*)&c[(size_t)r * n + q] = make_float2(sum[i][j][0], sum[i][j][1]);
      *(float2*)&c[(size_t)(r + 8) * n + q] = make_float2(sum[i][j][2], sum[i][j][3]);
    }
}
#endif
// Product of bytes by dp4a: 32 x 32 a block of 8 x 32 threads, b by columns.
extern "C" __global__ void gemm_dp4a(const int* a, const int* b, int* c, int n) {
  __shared__ int s[32][33], t[32][33];
  int tx = threadIdx.x, ty = threadIdx.y, words = n / 4, sum[4] = {};
  for (int k0 = 0; k0 < words; k0 += 32) {
    for (int i = ty; i < 32; i += 8) {
      s[i][tx] = k0 + tx < words ? a[(blockIdx.y * 32 + i) * words + k0 + tx] : 0;
      t[i][tx] = k0 + tx < words ? b[(blockIdx.x * 32 + i) * words + k0 + tx] : 0;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 32; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] = __dp4a(s[ty + 8 * i][k], t[tx][k], sum[i]);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) c[(blockIdx.y * 32 + ty + 8 * i) * n + blockIdx.x * 32 + tx] = sum[i];
}
// Float product with two buffers that are filled asynchronously: 64 x 64 a block of 256 threads, 4 x 4 each.
extern "C" __global__ void gemm_async(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float s[2][64][20], t[2][16][64];
  int tid = threadIdx.x, tx = tid & 15, ty = tid >> 4;
  const float* pa = a + (size_t)(blockIdx.y * 64 + tid / 4) * n + tid % 4 * 4;
  const float* pb = b + (size_t)(tid / 16) * n + blockIdx.x * 64 + tid % 16 * 4;
  float sum[4][4] = {};
  auto fill = [&](int k0, int buffer) {
    __pipeline_memcpy_async(&s[buffer][tid / 4][tid % 4 * 4], pa + k0, 16);
    __pipeline_memcpy_async(&t[buffer][tid / 16][tid % 16 * 4], pb + (size_t)k0 * n, 16);
    __pipeline_commit();
  };
  fill(0, 0);
  for (int k0 = 0, now = 0; k0 < n; k0 += 16, now ^= 1) {
    if (k0 + 16 < n) { fill(k0 + 16, now ^ 1); __pipeline_wait_prior(1); } else __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float4 v = *(float4*)&t[now][k][4 * tx];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float u = s[now][4 * ty + i][k];
        sum[i][0] += u * v.x; sum[i][1] += u * v.y; sum[i][2] += u * v.z; sum[i][3] += u * v.w;
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    *(float4*)&c[(size_t)(blockIdx.y * 64 + 4 * ty + i) * n + blockIdx.x * 64 + 4 * tx] = *(float4*)sum[i];
}
// A warp brings numbers, three warps use them: two buffers, two named barriers each.
__device__ void meet(int barrier, bool wait) {
  if (wait) asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory");
  else asm volatile("bar.arrive %0, 128;" ::"r"(barrier) : "memory");
}
extern "C" __global__ void producer_warp(const float* x, float* y, int tiles) {
  __shared__ float buffer[2][96];
  int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  const float* from = x + (size_t)blockIdx.x * tiles * 96;
  if (warp == 3) {
    for (int k = 0; k < tiles; ++k) {
      if (k >= 2) meet(3 + (k & 1), true);
      for (int e = lane; e < 96; e += 32) buffer[k & 1][e] = from[k * 96 + e];
      __threadfence_block();
      meet(1 + (k & 1), false);
    }
  } else {
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
      meet(1 + (k & 1), true);
      sum += buffer[k & 1][threadIdx.x] * buffer[k & 1][95 - threadIdx.x];
      if (k + 2 < tiles) meet(3 + (k & 1), false);
    }
    y[blockIdx.x * 96 + threadIdx.x] = sum;
  }
}
// Sums by tiles of 8 threads, then of the block, then a vote of those that are on.
extern "C" __global__ void tiled_groups(const int* x, int* sums, int* odd, int n) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  __shared__ int part[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] : 0;
  int sum = cg::reduce(tile, v, cg::plus<int>());
  if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = sum;
  block.sync();
  auto warp = cg::tiled_partition<32>(block);
  if (warp.meta_group_rank() == 0) {
    int all = cg::reduce(warp, warp.thread_rank() < block.size() / 8 ? part[warp.thread_rank()] : 0, cg::plus<int>());
    int most = cg::reduce(warp, part[warp.thread_rank() % (block.size() / 8)], cg::greater<int>());
    if (warp.thread_rank() == 0) { sums[2 * blockIdx.x] = all; sums[2 * blockIdx.x + 1] = most; }
  }
  if (v & 1) {
    cg::coalesced_group on = cg::coalesced_threads();
    if (on.thread_rank() == 0) atomicAdd(&odd[blockIdx.x], (int)on.size());
    odd[gridDim.x + i] = on.shfl(v, 0) + on.thread_rank();
  }
}
// Matrix times vector, a warp a row, 16 bytes a lane.
extern "C" __global__ void gemv_rows(const float4* a, const float4* x, float* y, int rows, int n) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float sum = 0;
  for (int k = threadIdx.x; k < n / 4; k += 32) {
    float4 u = a[(size_t)row * (n / 4) + k], v = __ldg(&x[k]);
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[row] = sum;
}
// Product of halves, two at a time in registers, sums in floats every 16.
extern "C" __global__ void gemm_half2(const __half2* a, const __half2* b, float* c, int n) {
  __shared__ __half2 s[16][17], t[16][17];
  int tx = threadIdx.x, ty = threadIdx.y, words = n / 2;
  float sum = 0;
  for (int k0 = 0; k0 < words; k0 += 16) {
    s[ty][tx] = a[(blockIdx.y * 16 + ty) * words + k0 + tx];
    t[ty][tx] = b[(blockIdx.x * 16 + ty) * words + k0 + tx];
    __syncthreads();
    __half2 part = __float2half2_rn(0);
#pragma unroll
    for (int k = 0; k < 16; ++k) part = __hfma2(s[ty][k], t[tx][k], part);
    float2 both = __half22float2(part);
    sum += both.x + both.y;
    __syncthreads();
  }
  c[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx] = sum;
}
// A grid that takes its work from a counter, in pieces of 4 warps' rows, and adds up with one atomic a block.
extern "C" __global__ void mixed_sums(const float* x, int* histogram, unsigned long long* total, int n) {
  unsigned long long sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int v = __float2int_rd(x[i] * 64);
    sum += (unsigned)(v + 64);
    if (v < -24 || v > 24) atomicAdd(&histogram[v & 15], 1);
  }
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  sum = cg::reduce(warp, sum, cg::plus<unsigned long long>());
  if (warp.thread_rank() == 0) atomicAdd(total, sum);
}
