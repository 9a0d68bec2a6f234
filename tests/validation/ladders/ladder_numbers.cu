// Ladders of arithmetic: one task, climbed in several ways (launches: launches.toml).
using uint = unsigned;
using ulong = unsigned long long;

// A filter of 64 taps.  Everything from memory.
extern "C" __global__ void filter_plain(const short* x, const short* taps, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  if (i >= n) return;
  for (int k = 0; k < 64; ++k) s += taps[k] * x[i + k];
  y[i] = s;
}
// Samples and taps in shared memory.
extern "C" __global__ void filter_shared(const short* x, const short* taps, int* y, int n) {
  __shared__ int own[320], tap[64];
  int i = blockIdx.x * 256 + threadIdx.x, s = 0;
  own[threadIdx.x] = x[i];
  if (threadIdx.x < 64) {
    own[256 + threadIdx.x] = x[i + 256];
    tap[threadIdx.x] = taps[threadIdx.x];
  }
  __syncthreads();
#pragma unroll 16
  for (int k = 0; k < 64; ++k) s += tap[k] * own[threadIdx.x + k];
  y[i] = s;
}
// Eight results a thread, side by side: what is read of the samples is kept in registers for the next tap.
extern "C" __global__ void filter_window(const short* x, const short* taps, int* y, int n) {
  __shared__ int own[9 * 136], tap[64];
  int from = blockIdx.x * 1024;
  for (int k = threadIdx.x; k < 1088; k += 128) own[k + k / 8] = x[from + k];
  if (threadIdx.x < 64) tap[threadIdx.x] = taps[threadIdx.x];
  __syncthreads();
  int window[8], s[8] = {};
#pragma unroll
  for (int j = 0; j < 8; ++j) window[j] = own[9 * threadIdx.x + j];
  for (int k = 0; k < 64; k += 8)
#pragma unroll
    for (int m = 0; m < 8; ++m) {
      int t = tap[k + m];
#pragma unroll
      for (int j = 0; j < 8; ++j) s[j] += t * window[(j + m) & 7];
      window[m] = own[9 * threadIdx.x + 9 * (k / 8 + 1) + m];
    }
#pragma unroll
  for (int j = 0; j < 8; j += 4) *(int4*)&y[from + 8 * threadIdx.x + j] = make_int4(s[j], s[j + 1], s[j + 2], s[j + 3]);
}

// Random walks in the plane: how far each ever was from where it began.  Two bits are a direction.
__device__ uint stirred(uint s) {
  s ^= s << 13;
  s ^= s >> 17;
  return s ^ s << 5;
}
__device__ int walked(uint s, int steps) {
  int x = 0, y = 0, farthest = 0;
  for (int k = 0; k < steps; ++k) {
    s = stirred(s);
    int way = 1 - (int)(s >> 30 & 2);
    if (s >> 30 & 1) x += way;
    else y += way;
    farthest = max(farthest, abs(x) + abs(y));
  }
  return farthest;
}
// Each way has its own path in the code, and one of them rests.
extern "C" __global__ void walk_paths(const uint* seed, int* far, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = 0, y = 0, farthest = 0;
  uint s = seed[i] | 1;
  for (int k = 0; k < steps; ++k) {
    s = stirred(s);
    if (s >> 31) {
      if (s >> 30 & 1) { x -= 1; if (-x > farthest - abs(y)) farthest = max(farthest, abs(x) + abs(y)); }
      else { y -= 1; if (-y > farthest - abs(x)) farthest = max(farthest, abs(x) + abs(y)); }
    } else {
      if (s >> 30 & 1) { x += 1; if (x > farthest - abs(y)) farthest = max(farthest, abs(x) + abs(y)); }
      else { y += 1; if (y > farthest - abs(x)) farthest = max(farthest, abs(x) + abs(y)); }
    }
  }
  far[i] = farthest;
}
// Few warps: each thread's walk takes the room of many in shared memory.
extern "C" __global__ void walk_few(const uint* seed, int* far, int steps, int n) {
  extern __shared__ uint own[];
  int i = blockIdx.x * blockDim.x + threadIdx.x, room = 180 * threadIdx.x;
  own[room] = seed[i] | 1;
  own[room + 179] = steps;
  __syncthreads();
  far[i] = walked(own[room], own[room + 179]);
}
// Many warps.
extern "C" __global__ void walk_many(const uint* seed, int* far, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  far[i] = walked(seed[i] | 1, steps);
}
// Two walks a thread, step by step together.
extern "C" __global__ void walk_pairs(const uint2* seed, int2* far, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x[2] = {}, y[2] = {}, farthest[2] = {};
  uint2 both = seed[i];
  uint s[2] = {both.x | 1, both.y | 1};
  for (int k = 0; k < steps; ++k)
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      s[j] = stirred(s[j]);
      int way = 1 - (int)(s[j] >> 30 & 2);
      if (s[j] >> 30 & 1) x[j] += way;
      else y[j] += way;
      farthest[j] = max(farthest[j], abs(x[j]) + abs(y[j]));
    }
  far[i] = make_int2(farthest[0], farthest[1]);
}

// Squared again and again, modulo a prime of 31 bits.  By the remainder of 64 bits.
extern "C" __global__ void squares_remainder(const uint* x, uint* y, uint prime, int rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ulong v = x[i];
  for (int k = 0; k < rounds; ++k) v = v * v % prime;
  y[i] = v;
}
// By a quotient in double precision.
extern "C" __global__ void squares_quotient(const uint* x, uint* y, uint prime, int rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint v = x[i];
  double part = 1.0 / prime;
  for (int k = 0; k < rounds; ++k) {
    ulong square = (ulong)v * v;
    long long rest = square - (ulong)((double)square * part) * prime;
    v = rest < 0 ? rest + prime : rest >= prime ? rest - prime : rest;
  }
  y[i] = v;
}
// In Montgomery's form: two products and no division.
__device__ uint reduced(ulong v, uint prime, uint inverse) {
  uint m = (uint)v * inverse, high = (v + (ulong)m * prime) >> 32;
  return high >= prime ? high - prime : high;
}
extern "C" __global__ void squares_montgomery(const uint* x, uint* y, uint prime, int rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint inverse = 1;
  for (int k = 0; k < 5; ++k) inverse *= 2 - prime * inverse;
  inverse = -inverse;
  uint v = ((ulong)x[i] << 32) % prime;
  for (int k = 0; k < rounds; ++k) v = reduced((ulong)v * v, prime, inverse);
  y[i] = reduced(v, prime, inverse);
}

// A polynomial of 128 coefficients in double precision.  A coefficient after the other, from memory.
extern "C" __global__ void series_plain(const double* x, const double* c, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i], s = 0;
#pragma unroll 4
  for (int k = 127; k >= 0; --k) s = s * v + c[k];
  y[i] = s;
}
// Eight coefficients in a tree.
extern "C" __global__ void series_tree(const double* x, const double* c, double* y, int n) {
  __shared__ double own[128];
  if (threadIdx.x < 128) own[threadIdx.x] = c[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i], v2 = v * v, v4 = v2 * v2, v8 = v4 * v4, s = 0;
#pragma unroll 2
  for (int k = 120; k >= 0; k -= 8) {
    const double* p = own + k;
    double low = (p[0] + p[1] * v) + (p[2] + p[3] * v) * v2, high = (p[4] + p[5] * v) + (p[6] + p[7] * v) * v2;
    s = s * v8 + (low + high * v4);
  }
  y[i] = s;
}
// Four numbers a thread, which share the coefficients.
extern "C" __global__ void series_fours(const double* x, const double* c, double* y, int n) {
  int i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  double v[4], s[4] = {};
#pragma unroll
  for (int k = 0; k < 4; ++k) v[k] = x[i + k * blockDim.x];
#pragma unroll 4
  for (int k = 127; k >= 0; --k) {
    double one = c[k];
#pragma unroll
    for (int j = 0; j < 4; ++j) s[j] = s[j] * v[j] + one;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) y[i + k * blockDim.x] = s[k];
}
