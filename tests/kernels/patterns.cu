// One access of a chosen width at chosen places by chosen lanes of a warp: the patterns behind measurements/h200.
// Lane l touches element idx[l] if on[l].
template <class T> __device__ int fold(T v) { return (int)v; }
template <> __device__ int fold(int2 v) { return v.x ^ v.y; }
template <> __device__ int fold(int4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
template <class T> __device__ T made(int i) { return (T)i; }
template <> __device__ int2 made(int i) { return make_int2(i, i + 1); }
template <> __device__ int4 made(int i) { return make_int4(i, i + 1, i + 2, i + 3); }

#define PATTERNS(NAME, T)                                                                          \
  extern "C" __global__ void lds_##NAME(const int* idx, const int* on, int* out) {                 \
    extern __shared__ T shared_##NAME[];                                                                \
    if (on[threadIdx.x]) out[threadIdx.x] = fold<T>(shared_##NAME[idx[threadIdx.x]]);                   \
  }                                                                                                \
  extern "C" __global__ void sts_##NAME(const int* idx, const int* on, int* out) {                 \
    extern __shared__ T shared_##NAME[];                                                                \
    if (on[threadIdx.x]) shared_##NAME[idx[threadIdx.x]] = made<T>(threadIdx.x);    \
    __syncthreads();                                                                               \
    out[threadIdx.x] = ((volatile int*)shared_##NAME)[threadIdx.x];                                     \
  }                                                                                                \
  extern "C" __global__ void ldg_##NAME(const int* idx, const int* on, const T* in, int* out) {    \
    if (on[threadIdx.x]) out[threadIdx.x] = fold<T>(in[idx[threadIdx.x]]);                         \
  }                                                                                                \
  extern "C" __global__ void stg_##NAME(const int* idx, const int* on, T* to) {                    \
    if (on[threadIdx.x]) to[idx[threadIdx.x]] = made<T>(threadIdx.x);                              \
  }

PATTERNS(1, unsigned char)
PATTERNS(2, short)
PATTERNS(4, int)
PATTERNS(8, int2)
PATTERNS(16, int4)

// Local memory at an index that the compiler does not know.
#define LOCAL(NAME, T)                                                                             \
  extern "C" __global__ void local_##NAME(const int* idx, const int* on, int* out) {               \
    T a[32];                                                                                       \
    for (int i = 0; i < 32; ++i) a[i] = made<T>(i + on[i]);                                        \
    if (on[threadIdx.x]) out[threadIdx.x] = fold<T>(a[idx[threadIdx.x] & 31]);                     \
  }
LOCAL(1, unsigned char)
LOCAL(4, int)
LOCAL(8, int2)
LOCAL(16, int4)

// Atomics on chosen words.
extern "C" __global__ void red_add(const int* idx, const int* on, int* to) {
  if (on[threadIdx.x]) atomicAdd(to + idx[threadIdx.x], (int)threadIdx.x);
}
extern "C" __global__ void atom_add(const int* idx, const int* on, int* to, int* out) {
  if (on[threadIdx.x]) out[threadIdx.x] = atomicAdd(to + idx[threadIdx.x], (int)threadIdx.x);
}
extern "C" __global__ void atom_cas(const int* idx, const int* on, int* to, int* out) {
  if (on[threadIdx.x]) out[threadIdx.x] = atomicCAS(to + idx[threadIdx.x], 0, (int)threadIdx.x);
}
extern "C" __global__ void atoms_add(const int* idx, const int* on, int* out) {
  extern __shared__ int words[];
  for (int i = threadIdx.x; i < 1024; i += 32) words[i] = 0;
  __syncthreads();
  if (on[threadIdx.x]) out[threadIdx.x] = atomicAdd(words + idx[threadIdx.x], (int)threadIdx.x);
}
extern "C" __global__ void atoms_float(const int* idx, const int* on, float* out) {
  extern __shared__ float reals[];
  for (int i = threadIdx.x; i < 1024; i += 32) reals[i] = 0;
  __syncthreads();
  if (on[threadIdx.x]) atomicAdd(reals + idx[threadIdx.x], (float)threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = reals[threadIdx.x];
}

// A warp that is not whole: 40 threads, some gone before the shuffle and the vote.
extern "C" __global__ void partial_shuffle(const int* in, int* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  out[i] = v;
}
extern "C" __global__ void partial_vote(const int* in, int* out, int n) {
  int i = threadIdx.x;
  if (i < n) {
    int v = in[i];
    out[i] = __ballot_sync((1u << n) - 1, v > 3) + __any_sync((1u << n) - 1, v > 7);
    __syncwarp((1u << n) - 1);
    out[i + 64] = v;
  }
}
