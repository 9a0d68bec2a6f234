// Generic accesses whose lanes reach global (0), shared (1) and local memory (2): measurements/h200/generic.csv.
template <class T> __device__ int fold(T v) { return (int)v; }
template <> __device__ int fold(int2 v) { return v.x ^ v.y; }
template <> __device__ int fold(int4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
template <class T> __device__ T made(int i) { return (T)i; }
template <> __device__ int2 made(int i) { return make_int2(i, i + 1); }
template <> __device__ int4 made(int i) { return make_int4(i, i + 1, i + 2, i + 3); }
// where: 0 global, 1 shared, 2 local
#define GENERIC(NAME, T)                                                                                             \
  extern "C" __global__ void gld_##NAME(const int* where, const int* idx, const int* on, T* g, int* out) {          \
    __shared__ T s[64]; T a[32]; int t = threadIdx.x;                                                                \
    for (int i = 0; i < 32; ++i) a[i] = made<T>(i + on[i]);                                                          \
    s[t] = made<T>(t); s[t + 32] = made<T>(t + 7); __syncwarp();                                                     \
    T* p[3] = {g, s, a};                                                                                             \
    T* q = p[where[t]] + idx[t];                                                                                     \
    if (on[t]) out[t] = fold<T>(*(volatile T*)&*q);                                                                  \
  }                                                                                                                  \
  extern "C" __global__ void gst_##NAME(const int* where, const int* idx, const int* on, T* g, int* out) {          \
    __shared__ T s[64]; T a[32]; int t = threadIdx.x;                                                                \
    for (int i = 0; i < 32; ++i) a[i] = made<T>(i + on[i]);                                                          \
    s[t] = made<T>(t); s[t + 32] = made<T>(t + 7); __syncwarp();                                                     \
    T* p[3] = {g, s, a};                                                                                             \
    T* q = p[where[t]] + idx[t];                                                                                     \
    if (on[t]) *q = made<T>(t * 3);                                                                                  \
    __syncwarp();                                                                                                    \
    out[t] = fold<T>(s[t]) + fold<T>(a[t ^ 1]);                                                                      \
  }
GENERIC(1, unsigned char)
GENERIC(4, int)
#define GENERICV(NAME, T, U)                                                                                         \
  extern "C" __global__ void gld_##NAME(const int* where, const int* idx, const int* on, T* g, int* out) {          \
    __shared__ T s[64]; T a[32]; int t = threadIdx.x;                                                                \
    for (int i = 0; i < 32; ++i) a[i] = made<T>(i + on[i]);                                                          \
    s[t] = made<T>(t); s[t + 32] = made<T>(t + 7); __syncwarp();                                                     \
    T* p[3] = {g, s, a};                                                                                             \
    T* q = p[where[t]] + idx[t];                                                                                     \
    if (on[t]) out[t] = fold<T>(*q);                                                                                 \
  }                                                                                                                  \
  extern "C" __global__ void gst_##NAME(const int* where, const int* idx, const int* on, T* g, int* out) {          \
    __shared__ T s[64]; T a[32]; int t = threadIdx.x;                                                                \
    for (int i = 0; i < 32; ++i) a[i] = made<T>(i + on[i]);                                                          \
    s[t] = made<T>(t); s[t + 32] = made<T>(t + 7); __syncwarp();                                                     \
    T* p[3] = {g, s, a};                                                                                             \
    T* q = p[where[t]] + idx[t];                                                                                     \
    if (on[t]) *q = made<T>(t * 3);                                                                                  \
    __syncwarp();                                                                                                    \
    out[t] = fold<T>(s[t]) + fold<T>(a[t ^ 1]);                                                                      \
  }
GENERICV(8, int2, 0)
GENERICV(16, int4, 0)
extern "C" __global__ void gatom(const int* where, const int* idx, const int* on, int* g, int* out) {
  __shared__ int s[64]; int t = threadIdx.x;
  s[t] = t; s[t + 32] = t; __syncwarp();
  int* q = (where[t] ? s : g) + idx[t];
  if (on[t]) out[t] = atomicAdd(q, t);
  __syncwarp();
  out[t] += s[t];
}
extern "C" __global__ void gred(const int* where, const int* idx, const int* on, int* g, int* out) {
  __shared__ int s[64]; int t = threadIdx.x;
  s[t] = t; s[t + 32] = t; __syncwarp();
  int* q = (where[t] ? s : g) + idx[t];
  if (on[t]) atomicAdd(q, t);
  __syncwarp();
  out[t] += s[t];
}
