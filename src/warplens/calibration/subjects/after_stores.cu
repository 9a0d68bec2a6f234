// A load behind a store of the same warp: where the store goes decides how long the load takes, or not.
extern "C" {
// Each warp has `row` words of x, which L1 has, and a row of y.  x is zeros, so that each address follows from a load.
#define AFTER(name, load, stores)                                                                                   \
  __global__ void name(long long* ticks, unsigned* x, unsigned* y, int rounds, int row, int step, int apart) {      \
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, at = 0, v = 0, w = lane; \
    unsigned *p = x + (long)warp * row + lane, *q = y + (long)warp * apart + lane;                                  \
    for (int i = 0; i < row; i += 32) v += p[i];                                                                    \
    at = v;                                                                                                         \
    __syncthreads();                                                                                                \
    TICKS(_Pragma("unroll 4") for (int r = 0; r < rounds; ++r) {                                                   \
      unsigned* from = p + at;                                                                                      \
      load;                                                                                                         \
      unsigned* to = q + (long)(r * step) + v;                                                                      \
      stores;                                                                                                       \
      at = (at + v + 32) & (row - 1);                                                                               \
    })                                                                                                              \
    if (v == 12345678) y[0] = at;                                                                                   \
  }
#define CA asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory")
#define CG asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory")
#define WB(off) asm volatile("st.global.u32 [%0 + " #off "], %1;" ::"l"(to), "r"(w) : "memory")
#define CS(off) asm volatile("st.global.cs.u32 [%0 + " #off "], %1;" ::"l"(to), "r"(w) : "memory")
#define WT(off) asm volatile("st.global.wt.u32 [%0 + " #off "], %1;" ::"l"(to), "r"(w) : "memory")
#define BACK asm volatile("st.global.u32 [%0], %1;" ::"l"(from), "r"(v) : "memory")
#define BESIDE asm volatile("st.global.u32 [%0], %1;" ::"l"(p + ((at + 32) & (row - 1))), "r"(v) : "memory")
AFTER(after_none, CA, )
AFTER(after_one, CA, WB(0))
AFTER(after_two, CA, WB(0); WB(128))
AFTER(after_four, CA, WB(0); WB(128); WB(256); WB(384))
AFTER(after_streamed, CA, CS(0))
AFTER(after_through, CA, WT(0))
AFTER(after_same, CA, BACK)
AFTER(after_next, CA, BESIDE)
AFTER(far_none, CG, )
AFTER(far_one, CG, WB(0))
// Two loads that do not need each other, and a store that needs them: as compilers leave `y[i] = x[i] * x[i + n]`.
__global__ void after_rows(const float* x, float* y, int row, int again) {
  const float* p = x + (long)blockIdx.x * row;
  float* q = y + (long)blockIdx.x * row;
  float sum = 0;
  for (int i = threadIdx.x; i < row; i += 32) sum += p[i];
  for (int r = 0; r < again; ++r)
    for (int i = threadIdx.x; i < row; i += 32) q[i] = p[i] * sum;
}
}
