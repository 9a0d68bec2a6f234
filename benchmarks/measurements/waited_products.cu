// Cycles and clock of products of warpgroups, 64x128x16 in bf16, that are waited for one by one, or 4 or 16 at a time:
// the median block.  nvcc -gencode arch=compute_90a,code=sm_90a -O2 -std=c++17 waited_products.cu && ./a.out > waits.csv
#include <cstdio>
#include <cstdint>
#include <algorithm>
#include <vector>
__device__ void product(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
    "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
    "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
    "%62, %63"
    "}, %64, %65, 1, 1, 1, 0, 0;"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
      "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
      "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
      "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
      "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
      "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
      "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
      "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
    : "l"(a), "l"(b));
}
// EACH products are waited for together; TWO: on two accumulators by turns.
template <int EACH, bool TWO>
__global__ void __launch_bounds__(256) loop(float* out, long long* times, int rounds, int noise) {
  extern __shared__ __align__(1024) uint16_t memory[];
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) {
    unsigned h = (i + blockIdx.x * 7919) * 2654435761u; h ^= h >> 15; h *= 0x85ebca6b; h ^= h >> 13;
    memory[i] = noise ? 0x3c00 + (h & 0x83ff) : 0;
  }
  float d[64], e[64];
  for (int i = 0; i < 64; i++) d[i] = e[i] = 0;
  uint64_t at = uint64_t((unsigned)__cvta_generic_to_shared(memory)) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  long long c0 = clock64(), t0; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t0));
  for (int r = 0; r < rounds; r++) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < EACH; k++) product(d, at + 2 * k, at + 1024 + 2 * k);
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (TWO) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      for (int k = 0; k < EACH; k++) product(e, at + 512 + 2 * k, at + 1024 + 2 * k);
      asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
  }
  long long t1; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t1)); long long c1 = clock64();
  float s = 0;
  for (int i = 0; i < 64; i++) s += d[i] + e[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
  if (threadIdx.x == 0) times[2 * blockIdx.x] = c1 - c0, times[2 * blockIdx.x + 1] = t1 - t0;
}
template <int EACH, bool TWO> void run(float* out, long long* times, int blocks, int groups, int products, int noise) {
  auto kernel = loop<EACH, TWO>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  int rounds = products / EACH / (TWO ? 2 : 1);
  for (int launch = 0; launch < 4; launch++) {
    kernel<<<blocks, 128 * groups, 65536>>>(out, times, rounds, noise);
    if (cudaDeviceSynchronize()) { printf("failed %s\n", cudaGetErrorString(cudaGetLastError())); return; }
    std::vector<long long> h(2 * blocks);
    cudaMemcpy(h.data(), times, 16 * blocks, cudaMemcpyDeviceToHost);
    std::vector<std::pair<long long, long long>> v;
    for (int b = 0; b < blocks; b++) v.push_back({h[2 * b], h[2 * b + 1]});
    std::sort(v.begin(), v.end());
    auto m = v[blocks / 2];
    printf("%d,%d,%d,%d,%d,%d,%d,%lld,%lld\n", blocks, groups, EACH, TWO, noise, rounds * EACH * (TWO ? 2 : 1), launch,
           m.first, m.second);
  }
}
int main() {
  float* out; long long* times;
  cudaMalloc(&out, 4 << 20); cudaMalloc(&times, 1 << 16);
  printf("blocks,groups,each,two,noise,products,launch,cycles,nanoseconds\n");
  for (int noise : {1, 0}) for (int products : {256, 1024}) for (int blocks : {1, 64, 132}) for (int groups : {1, 2}) {
    run<1, false>(out, times, blocks, groups, products, noise);
    run<1, true>(out, times, blocks, groups, products, noise);
    run<4, false>(out, times, blocks, groups, products, noise);
    run<16, false>(out, times, blocks, groups, products, noise);
  }
}
