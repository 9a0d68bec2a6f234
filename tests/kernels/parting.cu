// Lanes that part and meet, one block a launch; measurements/h200/parting.csv has what an H200 counted for each.
__device__ __forceinline__ int now() { int t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory"); return t; }
#define START int i = blockIdx.x * blockDim.x + threadIdx.x, c = v[i], s = c
#define LOOP _Pragma("unroll 1") for
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" {
__global__ void recurse(const int *v, int *t, int *e, int *o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = fib(v[i]);
}
// a loop left at different times, with one condition and with two
__global__ void p_loop(const int *v, int *t, int *e, int *o) {
  START;
  s = 0;
  LOOP(int k = 0; k < c; k++) s = s * 5 + k;
  o[i] = s;
}
__global__ void p_two(const int *v, int *t, int *e, int *o) {
  START;
  s = 0;
  LOOP(int k = 0; k < 8 && s < c * 20; k++) s = s + k + c;
  o[i] = s;
}
// after some lanes have ended
__global__ void p_exit(const int *v, int *t, int *e, int *o) {
  START;
  if (c > 4) return;
  LOOP(int k = 0; k < c; k++) s = s * 5 + k;
  o[i] = s;
}
__global__ void p_nest(const int *v, int *t, int *e, int *o) {
  START;
  if (c & 1) {
    if (c & 2) { LOOP(int k = 0; k < c; k++) s = s * 5 + v[k]; } else { s = v[s] / 3; }
    s += v[s & 7];
  } else {
    LOOP(int k = 0; k < 2; k++) s = s * 7 - v[k];
  }
  o[i] = s;
}
// lanes of both sides meet at two places of the code
__global__ void warpsync_parts(const int *v, int *t, int *e, int *o) {
  START;
  if (c > 4) { e[i] = now(); __syncwarp(); s = s * 3; t[i] = now(); }
  else { e[i] = now(); __syncwarp(); s = s * 5; t[i] = now(); }
  o[i] = s;
}
__global__ void shuffle_parts(const int *v, int *t, int *e, int *o) {
  START;
  if (c > 4) { e[i] = now(); s = __shfl_xor_sync(~0u, s, 1); t[i] = now(); }
  else { e[i] = now(); s = __shfl_xor_sync(~0u, s, 1) * 3; t[i] = now(); }
  o[i] = s;
}
}
