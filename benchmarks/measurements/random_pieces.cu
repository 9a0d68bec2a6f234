// Sectors from DRAM: warps that load random pieces of a large array, and others that stream beside them.
// nvcc -arch=sm_90 -O3 -std=c++17 random_pieces.cu && ./a.out
#include <cstdio>
#include <cstdint>
__device__ uint32_t mix(uint32_t x) { x ^= x >> 16; x *= 0x7feb352dU; x ^= x >> 15; x *= 0x846ca68bU; return x ^ x >> 16; }
// A piece is `sectors` sectors in a row at a multiple of its size; `lanes` lanes load a piece (8 bytes a lane of a sector of 4 lanes).
template <int UNROLL>
__global__ void gather(const float2* a, uint32_t pieces, int lanes, int spread, int rounds, int streams, const float4* b, size_t room, float* out) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  float v = 0;
  if (threadIdx.x / 32 < streams) {  // streams of whole lines
    size_t n = (size_t)gridDim.x * streams * 32, at = ((size_t)blockIdx.x * streams + threadIdx.x / 32) * 32 + lane;
    for (int r = 0; r < rounds; r++) {
      float4 w[UNROLL];
      for (int u = 0; u < UNROLL; u++) w[u] = b[(at + (size_t)(r * UNROLL + u) * n) % room];
      for (int u = 0; u < UNROLL; u++) v += w[u].x + w[u].w;
    }
  } else
    for (int r = 0; r < rounds; r++) {
      float2 w[UNROLL];
      #pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        uint32_t group = ((r * UNROLL + u) * gridDim.x * blockDim.x / 32 + warp) * (32 / lanes) + lane / lanes;
        uint32_t piece = mix(group * 2654435761u + 12345u) % pieces;
        w[u] = a[(size_t)piece * (4 * spread) + lane % lanes];
      }
      #pragma unroll
      for (int u = 0; u < UNROLL; u++) v += w[u].x + w[u].y;
    }
  if (v == 123.f) out[0] = v;
}
int main() {
  float2* a; float4* b; float* out; size_t room = (size_t)8 << 30;
  cudaMalloc(&a, room); cudaMalloc(&b, (size_t)4 << 30); cudaMalloc(&out, 64);
  cudaMemset(a, 0, room); cudaMemset(b, 0, (size_t)4 << 30);
  cudaEvent_t s, e; cudaEventCreate(&s); cudaEventCreate(&e);
  printf("footprint_mib,lanes_a_piece,sectors_apart,warps,unroll,stream_warps,rounds,us,gathered_sectors,streamed_bytes\n");
  struct P { int lanes, spread; } ps[] = {{1, 1}, {1, 2}, {1, 4}, {4, 1}, {8, 2}, {8, 4}, {16, 4}};
  for (size_t mib : {512, 8192})
    for (auto p : ps)
      for (int warps : {1, 2, 4, 8, 16, 32})
        for (int unroll : {1, 4})
          for (int streams = 0; streams <= warps / 2; streams = streams ? streams * 4 : warps / 4) {
            if (mib == 8192 && (streams || unroll == 4)) break;
            if (streams && warps < 8) break;
            int blocks = 264, rounds = 32 / unroll * (warps <= 4 ? 2 : 1);
            uint32_t pieces = (uint32_t)((mib << 20) / (32 * p.spread));
            auto k = unroll == 1 ? gather<1> : gather<4>;
            float ms, best = 1e9;
            for (int r = 0; r < 2; r++) {
              cudaEventRecord(s);
              k<<<blocks, warps * 32>>>(a, pieces, p.lanes, p.spread, rounds, streams, b, ((size_t)4 << 30) / 16, out);
              cudaEventRecord(e); cudaEventSynchronize(e); cudaEventElapsedTime(&ms, s, e); best = ms < best ? ms : best;
            }
            double groups = (double)blocks * (warps - streams) * rounds * unroll * (32 / p.lanes);
            double sectors = groups * (p.lanes <= 4 ? 1 : p.lanes / 4);
            printf("%zu,%d,%d,%d,%d,%d,%d,%.2f,%.0f,%.0f\n", mib, p.lanes, p.spread, warps, unroll, streams, rounds, best * 1e3, sectors, (double)blocks * streams * 32 * 16 * rounds * unroll);
            if (!streams && warps < 8) break;
            if (!(warps / 4)) break;
          }
}
