// What leaves for L2: stores to so many sectors of so many lines, one after the other or in a row to the same.
template <int W> __device__ void stored(char* p, float f);
template <> __device__ void stored<1>(char* p, float f) {
  asm volatile("st.global.u8 [%0],%1;" ::"l"(p), "r"(__float_as_int(f)));
}
template <> __device__ void stored<4>(char* p, float f) { asm volatile("st.global.f32 [%0],%1;" ::"l"(p), "f"(f)); }
template <> __device__ void stored<16>(char* p, float f) {
  asm volatile("st.global.v4.f32 [%0],{%1,%1,%1,%1};" ::"l"(p), "f"(f));
}
// The lanes of a warp store W bytes each to `sectors` sectors of `lines` lines; ROW such stores go to neighbouring
// places, one after the other or (TURNS) each behind one to other places, with a load that hits L1 behind each (LOAD).
template <int W, int ROW, bool TURNS, bool LOAD>
__device__ void rows(long long* ticks, char* y, float* sink, int lines, int sectors, int rounds) {
  const int lane = threadIdx.x % 32, units = lines * sectors, unit = lane * units / 32, lanes = max(32 / units, 1);
  const long jump = lines * 128, span = 16384;
  char* p = y + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * span + unit / sectors * 128 + unit % sectors * 32;
  p += lane % lanes * W % 32;
  long at = 0;
  float f = lane;
  __syncthreads();
  TICKS(for (int r = 0; r < rounds; ++r) {
    char* q[16 / ROW];
    UNROLLED(16 / ROW) q[i] = p + (at + i * jump & span - 1);
    at += 16 / ROW * jump;
    UNROLLED(16) {
      stored<W>(q[TURNS ? i % (16 / ROW) : i / ROW] + (TURNS ? i / (16 / ROW) : i % ROW) * 4, f);
      if (LOAD) asm volatile("{.reg .f32 v; ld.global.f32 v,[%1]; add.f32 %0,%0,v;}" : "+f"(f) : "l"(sink + lane));
    }
  })
  if (f == UNLIKELY) sink[0] = f;
}
#define ROWS(name, W, ROW, TURNS, LOAD)                                                                       \
  extern "C" __global__ void name(long long* ticks, char* y, float* sink, int lines, int sectors, int rounds) { \
    rows<W, ROW, TURNS, LOAD>(ticks, y, sink, lines, sectors, rounds);                                        \
  }
ROWS(stored_bytes, 1, 1, false, false)
ROWS(stored_words, 4, 1, false, false)
ROWS(stored_fours, 16, 1, false, false)
ROWS(row_of_2, 4, 2, false, false)
ROWS(row_of_4, 4, 4, false, false)
ROWS(row_of_8, 4, 8, false, false)
ROWS(turns_of_2, 4, 2, true, false)
ROWS(turns_of_4, 4, 4, true, false)
ROWS(turns_of_8, 4, 8, true, false)
ROWS(loads_in_2, 4, 2, false, true)
ROWS(loads_in_8, 4, 8, false, true)
// Eight stores in a row to the same places, between them so many multiply-adds, or (-1) a load from shared memory.
template <int BETWEEN> __device__ void gapped(char* y, float* sink, int lines, int sectors, int rounds) {
  __shared__ volatile int s[64];
  const int lane = threadIdx.x % 32, units = lines * sectors, unit = lane * units / 32, lanes = max(32 / units, 1);
  const int span = 4096;
  char* p = y + (long)(blockIdx.x * blockDim.x + threadIdx.x) / 32 * span;
  p += unit / sectors * 128 + unit % sectors * 32 + lane % lanes * 4 % 32;
  int at = 0, k = lane;
  float f = lane;
  s[threadIdx.x % 64] = threadIdx.x % 64;
  __syncthreads();
#pragma unroll 1
  for (int r = 0; r < rounds; ++r, at = at + lines * 128 & span - 1) {
    UNROLLED(8) {
      stored<4>(p + at + (lanes == 1 ? 4 * i : 0), f);
      if (BETWEEN < 0) f = k = s[k & 63];
      for (int n = 0; n < BETWEEN; ++n) asm volatile("fma.rn.f32 %0,%0,0f3F800001,0f3F800000;" : "+f"(f));
    }
  }
  if (f == UNLIKELY) sink[0] = f;
}
#define GAPPED(name, BETWEEN)                                                                              \
  extern "C" __global__ void gapped_##name(char* y, float* sink, int lines, int sectors, int rounds) {   \
    gapped<BETWEEN>(y, sink, lines, sectors, rounds);                                                    \
  }
GAPPED(nothing, 0)
GAPPED(sums, 16)
GAPPED(shared, -1)
// Each thread stores a row of its own word by word, and loads another: through L1 (1), past it (2), or not at all (0).
template <int LOADS> __device__ void row_and_row(float* y, const float* x, int words) {
  const long row = (long)(blockIdx.x * blockDim.x + threadIdx.x) * words;
  float f = threadIdx.x, v;
#pragma unroll 1
  for (int w = 0; w < words; ++w) {
    if (LOADS == 1) asm volatile("ld.global.f32 %0,[%1];" : "=f"(v) : "l"(x + row + w) : "memory");
    if (LOADS == 2) asm volatile("ld.global.cg.f32 %0,[%1];" : "=f"(v) : "l"(x + row + w) : "memory");
    if (LOADS) f += v;
    stored<4>((char*)(y + row + w), f);
  }
}
#define ROW_AND_ROW(name, LOADS) \
  extern "C" __global__ void row_and_##name(float* y, const float* x, int words) { row_and_row<LOADS>(y, x, words); }
ROW_AND_ROW(nothing, 0)
ROW_AND_ROW(row, 1)
ROW_AND_ROW(row_past, 2)
