// Calls through tables, virtual functions, lambdas, jumps, named barriers, prints and assertions.
#include <cassert>
#include <cstdio>
// /// warplens
// n = 3001
// [shapes]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:f32[n]", "zeros:f32[n]", "n"]
// [operations]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:u32[n]", "random:i32[n]", "zeros:i32[n]", "n"]
// [lambdas]
// grid = "ceil(n / 192)"
// block = 192
// args = ["random:i32[n]", "zeros:i32[n]", "n"]
// [jumps]
// grid = "ceil(n / 64)"
// block = 64
// args = ["random:u32[n]", "zeros:i32[n]", "n"]
// [collatz]
// grid = "ceil(n / 256)"
// block = 256
// args = ["zeros:i32[n]", "n"]
// [prints]
// grid = 2
// block = 40
// args = ["random:f64[80](-1000,1000)", "zeros:i32[80]"]
// [asserted]
// grid = 3
// block = 96
// args = ["random:i32[288](0,100)", "zeros:i32[288]"]
// [bounded]
// grid = 6
// block = 256
// args = ["random:f32[1536]", "zeros:f32[1536]"]
// [named_barriers]
// grid = 3
// block = 128
// args = ["random:i32[384]", "zeros:i32[384]"]
// [block_votes]
// grid = 5
// block = 160
// args = ["random:i32[800](0,64)", "zeros:i32[800]"]
// [warp_words]
// grid = 4
// block = 112
// args = ["random:u32[448](0,24)", "zeros:u32[448]", "zeros:u32[448]"]
// [active_lanes]
// grid = 4
// block = 128
// args = ["random:i32[512](0,9)", "zeros:i32[512]", "zeros:i32[1]"]
// [work_lists]
// grid = 3
// block = 96
// args = ["random:i32[288](1,40)", "zeros:i64[288]"]
// ///
struct Shape { __device__ virtual float area(float s) const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape { float a; __device__ Square(float x) : a(x) {} __device__ float area(float s) const override { return a * a * s; } };
struct Round : Shape { float r; __device__ Round(float x) : r(x) {} __device__ float area(float s) const override { return 3.0f * r * r + s; } };
struct Ring : Round { float q; __device__ Ring(float x) : Round(x), q(x * 0.5f) {} __device__ float area(float s) const override { return Round::area(s) - 3.0f * q * q; } };
extern "C" __global__ void shapes(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Shape* s;
  if (i % 3 == 0) s = new Square(x[i]); else if (i % 3 == 1) s = new Round(x[i]); else s = new Ring(x[i]);
  float v = 0;
  for (int k = 0; k <= i % 4; ++k) v += s->area(k);
  y[i] = v;
  delete s;
}
typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b + 1; }
__device__ int turned(int a, int b) { return (int)__funnelshift_l(a, a, b & 31); }
__device__ __noinline__ int digits(int a, int b) { int s = 0; for (unsigned v = a; v; v /= 10) s += v % 10; return s + b; }
__device__ Operation operation[4] = {plus, times, turned, digits};
__constant__ Operation fixed[4] = {digits, plus, turned, times};
extern "C" __global__ void operations(const unsigned* code, const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i];
  unsigned c = code[i];
  for (int k = 0; k < 6; ++k, c >>= 2) v = (k & 1 ? operation : fixed)[c & 3](v, k + i);
  y[i] = v;
}
template <class... F> __device__ int all(int v, F... f) { return (0 + ... + f(v)); }
template <class F> __device__ int again(int times, int v, F f) { while (times-- > 0) v = f(v, times); return v; }
extern "C" __global__ void lambdas(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = x[i], b = i;
  auto half = [](int v) { return v >> 1; };
  auto mix = [=](int v) { return v ^ a ^ b; };
  int calls = 0;
  auto count = [&calls](int v) mutable { ++calls; return v > 0 ? v % 11 : -v % 13; };
  int s = all(a, half, mix, count, [](float v) { return (int)(v * 2.5f); });
  s = again(a & 7, s, [&](int v, int k) { if (v & 1) return v * 3 + k; calls += k; return v / 2; });
  y[i] = s + calls;
}
extern "C" __global__ void jumps(const unsigned* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned s = x[i];
  int r = 0, guard = 0;
first:
  if (++guard > 30) goto out;
  s = s * 1664525u + 1013904223u;
  if (s >> 31) goto second;
  r += 1;
  if ((s >> 28) & 1) goto third;
  goto first;
second:
  r += 10;
  if ((s >> 27) & 1) goto first;
third:
  r += 100;
  s ^= s >> 15;
  if ((s & 7) != 3) goto second_chance;
  goto out;
second_chance:
  if (guard++ < 20 && (s & 8)) goto second;
  if (s & 16) goto first;
out:
  y[i] = r;
}
extern "C" __global__ void collatz(int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = i + 1;
  int steps = 0, top = 0;
  do {
    if (v == 1) break;
    if (v & 1) { v = 3 * v + 1; if (v > 9000) { ++top; if (top == 12) continue; } }
    else { v >>= 1; if (steps > 200) return; }
    ++steps;
  } while (steps < 400);
  y[i] = steps * 16 + top;
}
extern "C" __global__ void prints(const double* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 9 == 0) printf("%d: %8.3f|%-10.2e|%+g|%5d|%-6u|%08x|%c|%s|%%|%lld\n", i, x[i], x[i], x[i], i - 5, i * 77u, i * 4099, 'a' + i % 26, i & 1 ? "odd" : "even", 1ll << (i % 60));
  if (i == 44) printf("nothing\n");
  if (i > 70 && threadIdx.x % 2) y[i] = printf("%p %5.1f %.0f %a\n", (void*)0x1234, x[i], x[i], 1.5);
  else y[i] = i;
}
extern "C" __global__ void asserted(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  for (int k = 0; k < x[i] % 17; ++k) { assert(x[i] >= 0 && k < 17); s += k * x[i]; assert(s >= 0); }
  y[i] = s;
}
extern "C" __global__ void __launch_bounds__(256, 8) bounded(const float* x, float* y) {
  __shared__ float tile[256];
  float v[24];
  int i = blockIdx.x * 256 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 24; ++k) v[k] = x[(i * 3 + k * 5) % 1536];
  tile[threadIdx.x] = v[3];
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int k = 0; k < 24; ++k) s = s * 0.75f + v[k] * tile[(threadIdx.x + k * 8) & 255];
  y[i] = s;
}
extern "C" __global__ void named_barriers(const int* x, int* y) {
  __shared__ int box[2][64];
  int i = blockIdx.x * 128 + threadIdx.x, half = threadIdx.x / 64, t = threadIdx.x % 64;
  int v = x[i];
  for (int k = 0; k < 3 + half; ++k) {
    box[half][t] = v;
    asm volatile("bar.sync %0, 64;" ::"r"(1 + half) : "memory");
    v = v * 5 + box[half][63 - t];
    asm volatile("bar.sync %0, 64;" ::"r"(1 + half) : "memory");
  }
  if (half == 0) { box[0][t] = v; asm volatile("bar.arrive 4, 128;" ::: "memory"); }
  else { asm volatile("bar.sync 4, 128;" ::: "memory"); v += box[0][t]; }
  int any;
  asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; barrier.red.or.pred q, 5, p; selp.s32 %0, 1, 0, q; }" : "=r"(any) : "r"(v));
  y[i] = v + any;
}
extern "C" __global__ void block_votes(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i], s = 0;
  for (int bit = 0; bit < 6; ++bit) {
    int c = __syncthreads_count(v >> bit & 1);
    if (__syncthreads_and(v != bit)) s += c;
    else s -= __syncthreads_or(v == 2 * bit) ? 3 : 5;
    if (bit == 4 && blockIdx.x == 1) break;
  }
  y[i] = s;
}
extern "C" __global__ void warp_words(const unsigned* x, unsigned* y, unsigned* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mask = __activemask(), v = x[i];
  unsigned same = __match_any_sync(mask, v & 7);
  int pred;
  unsigned all = __match_all_sync(mask, v >> 4, &pred);
  unsigned m = __reduce_max_sync(same, v) + __reduce_add_sync(same, 1u) * 64;
  if (v & 1) m ^= __reduce_xor_sync(__activemask(), v * 3) | __reduce_and_sync(__activemask(), v | 3);
  else m += (unsigned)__reduce_min_sync(__activemask(), (int)v - 9);
  y[i] = m + all + pred;
  unsigned w = v;
  for (int d = 1; d < 32; d *= 2) { unsigned u = __shfl_up_sync(mask, w, d); if ((i & 31 & 15) >= d) w += u; }
  w ^= __shfl_xor_sync(mask, w, 5, 8) + __shfl_sync(mask, w, v, 16) + __shfl_down_sync(mask, w, 3, 4);
  unsigned long long wide = __shfl_sync(mask, ((unsigned long long)w << 20) | v, (i * 7) & 15);
  z[i] = w + (unsigned)(wide >> 9) + (__any_sync(same, v == 5) ? 1000 : 0) + __popc(__ballot_sync(mask, v > 11));
}
extern "C" __global__ void active_lanes(const int* x, int* y, int* total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i], s = 0;
  for (int k = 0; k < v; ++k) {
    unsigned now = __activemask();
    s += __popc(now);
    if ((v + k) % 3 == 0) { s += 100; if (k == 4) break; }
    else if (k > 2) continue;
    s += __ffs(__ballot_sync(__activemask(), v & 1));
  }
  __syncwarp();
  unsigned now = __activemask();
  int leader = __ffs(now) - 1, base = 0;
  if ((threadIdx.x & 31) == leader) base = atomicAdd(total, __popc(now));
  base = __shfl_sync(now, base, leader);
  y[i] = s + (base > 0 ? 0 : 1) * 0;
}
extern "C" __global__ void work_lists(const int* x, long long* y) {
  __shared__ int list[96];
  list[threadIdx.x] = x[blockIdx.x * 96 + threadIdx.x];
  __syncthreads();
  long long s = 0;
  if (threadIdx.x < 32)
    for (int k = threadIdx.x; k < 96; k += 32) {
      int v = list[k];
      while (v > 1) { if (v % 2 == 0) v /= 2; else if (v % 3 == 0) { v /= 3; s += 7; } else { --v; s += v; } }
      s = s * 3 + v;
    }
  else if (threadIdx.x < 64) for (int k = 0; k < 96; ++k) s += list[k] % (threadIdx.x - 30);
  else s = list[95 - threadIdx.x];
  y[blockIdx.x * 96 + threadIdx.x] = s;
}
