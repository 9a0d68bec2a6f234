// Recursion: each lane writes down where it was, with the clock; lanes that were there together read the same clock.
#define MAXE 384  // events a thread
struct Log { uint2* at; };
__device__ __forceinline__ void ev(Log& l, int id) {
  unsigned c; asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
  *l.at++ = make_uint2(id, c);
}
#define START \
  int i = blockIdx.x * blockDim.x + threadIdx.x; int c = v[i]; Log l{log + i * MAXE};
#define END(r) ev(l, 99); out[i] = (r); n[i] = l.at - (log + i * MAXE);
#define ARGS const int* v, uint2* log, int* n, int* out
__device__ __noinline__ int fib(Log& l, int n) {
  int r = n;
  ev(l, 1);
  if (n >= 2) { ev(l, 2); r = fib(l, n - 1); ev(l, 3); r += fib(l, n - 2); ev(l, 4); }
  ev(l, 5);
  return r;
}
__device__ int odd(Log& l, int n);
__device__ __noinline__ int even(Log& l, int n) { ev(l, 1); int r = 1; if (n > 0) { ev(l, 2); r = odd(l, n - 1) * 3; ev(l, 3); } ev(l, 4); return r; }
__device__ __noinline__ int odd(Log& l, int n) { ev(l, 5); int r = 0; if (n > 0) { ev(l, 6); r = even(l, n - 1) + 1; ev(l, 7); } ev(l, 8); return r; }
struct S { int a[6]; };
__device__ __noinline__ int sumS(S s, int k) { int r = 0; for (int i = 0; i < 6; i++) r += s.a[(i + k) % 6]; return r; }
__device__ __noinline__ void qs_twice(int* a, int lo, int hi, Log& l) {
  ev(l, 1);
  if (lo >= hi) return;
  int p = a[(lo + hi) / 2], i = lo, j = hi;
  while (i <= j) {
    while (a[i] < p) i++;
    while (a[j] > p) j--;
    if (i <= j) { int t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }
  }
  ev(l, 2);
  qs_twice(a, lo, j, l);
  ev(l, 3);
  qs_twice(a, i, hi, l);
  ev(l, 4);
}
__device__ __noinline__ int leaf(Log& l, int x) { ev(l, 10); int s = x; 
#pragma unroll 1
  for (int k = 0; k < (x & 3); k++) { s = s * 3 + k; ev(l, 11); } ev(l, 12); return s; }
__device__ __noinline__ int mid(Log& l, int x) { ev(l, 20); int r = x; if (x & 1) { ev(l, 21); r += leaf(l, x >> 1); ev(l, 22); } ev(l, 23); if (x & 4) r ^= leaf(l, x); ev(l, 24); return r; }
__device__ __noinline__ void qs(int* a, int lo, int hi, Log& l) {
  ev(l, 1);
  if (lo >= hi) return;
  int p = a[(lo + hi) / 2], i = lo, j = hi;
  while (i <= j) {
    while (a[i] < p) i++;
    while (a[j] > p) j--;
    if (i <= j) { int t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }
  }
  ev(l, 2);
  qs(a, lo, j, l);
  ev(l, 3);
  qs(a, i, hi, l);
}
__device__ __noinline__ int tail(int n, Log& l) {
  ev(l, 1);
  if (n < 2) return n;
  int s = 0;
  while (n > 1) { ev(l, 2); s += tail(n - 2, l); ev(l, 3); n--; if ((s & 7) == 5) break; }
  ev(l, 4);
  return s + 1;
}
__device__ __noinline__ int fib_last(int n, Log& l) { int r = n; ev(l, 1); if (n >= 2) { r = fib_last(n - 1, l) + fib_last(n - 2, l); ev(l, 4); } return r; }
__device__ __noinline__ int tree(int n, Log& l) {
  int r = n;
  ev(l, 1);
#pragma unroll 1
  for (int k = 0; k < (n & 3) && n > 0; k++) { ev(l, 2); r += tree(n - k - 1, l); ev(l, 3); }
  ev(l, 4);
  return r;
}
extern "C" {
__global__ void t_fib(ARGS) { START; int r = fib(l, c); END(r) }
__global__ void t_fib_after(ARGS) {
  START; S s; for (int k = 0; k < 6; k++) s.a[k] = i * k;
  int r = i * c; if (c & 1) r += sumS(s, c); ev(l, 50); r += fib(l, c); END(r)
}
__global__ void t_even(ARGS) { START; int r = even(l, c); END(r) }
__global__ void t_mid(ARGS) { START; int r = mid(l, c); ev(l, 30); if (c > 5) r += mid(l, c + 3); END(r) }
__global__ void t_qs(ARGS) { START; int a[12]; for (int k = 0; k < 12; k++) a[k] = (c * (k + 3) * 7919 >> 3) & 31; 
  int m = 2 + c; qs_twice(a, 0, m < 12 ? m - 1 : 11, l); int r = 0; for (int k = 0; k < 12; k++) r = r * 3 + a[k]; END(r) }
__global__ void t_rec(ARGS) { START; int a[16]; for (int k = 0; k < 16; k++) a[k] = (c * (k + 3) * 7919 >> 3) & 31;
  qs(a, 0, 4 + c % 12, l); int r = 0; for (int k = 0; k < 16; k++) r = r * 3 + a[k]; END(r) }
__global__ void t_tail(ARGS) { START; int r = tail(c, l); END(r) }
__global__ void t_fib2(ARGS) { START; int r = fib_last(c, l); END(r) }
__global__ void t_tree2(ARGS) { START; int r = tree(c, l); END(r) }
}
