// Asynchronous copies with a guard: lane l copies element idx[l] to place to[l] if on[l].
#define GUARDED(NAME, HOW, BYTES, T)                                                                              \
  extern "C" __global__ void NAME(const int* on, const int* idx, const int* to, const T* x, T* y, int all) {     \
    __shared__ __align__(16) T tile[128];                                                                         \
    int t = threadIdx.x;                                                                                          \
    for (int k = 0; k < 4; ++k) tile[t + 32 * k] = x[t];                                                          \
    __syncwarp();                                                                                                 \
    unsigned place = (unsigned)__cvta_generic_to_shared(tile + to[t]);                                            \
    const T* from = x + idx[t];                                                                                   \
    int go = all ? on[t] : 0;                                                                                     \
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p cp.async." HOW ".shared.global [%1], [%2], " BYTES "; }" \
                 ::"r"(go), "r"(place), "l"(from) : "memory");                                                   \
    asm volatile("cp.async.wait_all;" ::: "memory");                                                              \
    __syncwarp();                                                                                                 \
    y[t] = tile[t * 3 & 127];                                                                                     \
  }
GUARDED(guarded_ca_4, "ca", "4", int)
GUARDED(guarded_ca_8, "ca", "8", int2)
GUARDED(guarded_ca_16, "ca", "16", int4)
GUARDED(guarded_cg_16, "cg", "16", int4)

// Lanes copy a row past L1 under guards @P0 (0), @!P0 (1), and @P0, @P1, @P2 (2).
template <int KIND> __device__ __forceinline__ void body(const int* on, const int4* x, int4* y) {
  __shared__ __align__(16) int4 tile[128];
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) tile[t + 32 * k] = x[t];
  __syncwarp();
  unsigned place = (unsigned)__cvta_generic_to_shared(tile + t);
  const int4* from = x + t;
  if (KIND == 0) { if (on[t]) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory"); }
  if (KIND == 1) { asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @!p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(place), "l"(from), "r"(on[t]) : "memory"); }
  if (KIND == 2) { // several predicates alive
    asm volatile("{ .reg .pred p, q, r; setp.ne.s32 p, %2, 0; setp.ne.s32 q, %3, 0; setp.ne.s32 r, %4, 0;\n"
      " @p cp.async.cg.shared.global [%0], [%1], 16; @q cp.async.cg.shared.global [%0+512], [%1], 16; @r cp.async.cg.shared.global [%0+1024], [%1], 16; }"
      ::"r"(place), "l"(from), "r"(on[t]), "r"(on[t + 32]), "r"(on[t + 64]) : "memory"); }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  y[t + 32] = tile[t * 3 & 127];
}
#define K(n) extern "C" __global__ void guard_##n(const int* on, const int4* x, int4* y) { body<n>(on, x, y); }
K(0) K(1) K(2)
