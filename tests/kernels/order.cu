// Which lanes run first: each group of lanes takes the next number of its warp. One warp a block.
__device__ __forceinline__ int turn(volatile int *n) {
  int t = *n;
  *n = t + 1;
  return t;
}
#define START \
  __shared__ int n; \
  n = 0; \
  __syncwarp(); \
  int i = blockIdx.x * 32 + threadIdx.x, c = v[i], s = c, a = -1;
#define END \
  turns[i] = a; \
  out[i] = s;
extern "C" {
__global__ void two_sides(const int *v, int *turns, int *out) {
  START
  if (c & 1) {
    a = turn(&n);
#pragma unroll 1
    for (int k = 0; k < 4; k++) s = v[s & 255] + k;
  } else {
    a = turn(&n);
#pragma unroll 1
    for (int k = 0; k < 4; k++) s = v[s & 127] - k;
  }
  END
}
__global__ void leaving(const int *v, int *turns, int *out) {
  START
#pragma unroll 1
  for (int k = 0; k < 9; k++) {
    if (k == c) {
      a = turn(&n);
      s = s * 3 + v[s & 63];
      break;
    }
    s = s * 5 + k;
  }
  END
}
__global__ void cases(const int *v, int *turns, int *out) {
  START
  switch (c) {
    case 0: a = turn(&n); s = s * 3 + v[0]; break;
    case 1: a = turn(&n); s = s * 5 ^ v[1]; break;
    case 2: a = turn(&n); s = s * 7 - v[2] * 3; break;
    case 3: a = turn(&n); s = s * 9 + v[3] * v[4]; break;
    case 4: a = turn(&n); s = (s | 8) + v[5] / 3; break;
    case 5: a = turn(&n); s = __popc(s + v[6]); break;
    case 6: a = turn(&n); s = s * 11 + v[7] * 5; break;
    case 7: a = turn(&n); s = s * 13 + v[8] * v[9]; break;
    default: a = turn(&n); s = 77;
  }
  END
}
__device__ __noinline__ int by_three(volatile int *n, int *a, int x) { *a = turn(n); return x * 3; }
__device__ __noinline__ int by_five(volatile int *n, int *a, int x) { *a = turn(n); return x * 5 + 1; }
__device__ __noinline__ int by_seven(volatile int *n, int *a, int x) { *a = turn(n); return x * 7 + 2; }
__device__ __noinline__ int by_nine(volatile int *n, int *a, int x) { *a = turn(n); return x * 9 + 3; }
__global__ void pointers(const int *v, int *turns, int *out) {
  START
  int (*f)(volatile int *, int *, int) = c & 1 ? (c & 2 ? by_nine : by_five) : (c & 2 ? by_seven : by_three);
  s = f(&n, &a, s);
  END
}
}
