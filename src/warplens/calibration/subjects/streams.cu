// Every thread walks through n words, W at a time, with the stride of the whole grid, U loads at once.
template <int W, int U> __device__ void copy(const float* x, float* y, long n) {
  const Words<W>* p = (const Words<W>*)x;
  Words<W>* q = (Words<W>*)y;
  long step = (long)blockDim.x * gridDim.x, i = threadIdx.x + (long)blockIdx.x * blockDim.x;
  for (; i + (U - 1) * step < n / W; i += U * step) {
    Words<W> a[U];
#pragma unroll
    for (int u = 0; u < U; ++u) a[u] = p[i + u * step];
#pragma unroll
    for (int u = 0; u < U; ++u) q[i + u * step] = a[u];
  }
}
extern "C" {
#define READ(W, U) __global__ void read_##W##_##U(const float* x, float* sink, long n) { read<W, U>(x, sink, n); }
#define COPY(W, U) __global__ void copy_##W##_##U(const float* x, float* y, long n) { copy<W, U>(x, y, n); }
READ(1, 1) READ(1, 2) READ(1, 4) READ(1, 8) READ(2, 1) READ(2, 4) READ(4, 1) READ(4, 2) READ(4, 4)
COPY(1, 1) COPY(1, 4) COPY(4, 1) COPY(4, 4)
__global__ void write_1(float* y, long n) {
  long step = (long)blockDim.x * gridDim.x;
  for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i < n; i += step) y[i] = i;
}
__global__ void write_4(float4* y, long n) {
  long step = (long)blockDim.x * gridDim.x;
  for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i < n / 4; i += step) y[i] = make_float4(i, i, i, i);
}
// One word a lane, `stride` words apart: sectors and lines that are used in part.
__global__ void read_strided(const float* x, float* sink, long n, int stride) {
  long threads = (long)blockDim.x * gridDim.x;
  float sum = 0;
  for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i * stride < n; i += threads) sum += x[i * stride];
  if (sum == UNLIKELY) sink[0] = sum;
}
// One element a thread and as many blocks as that takes.
__global__ void once_read(const float* x, float* sink, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] == UNLIKELY) sink[0] = 1;
}
__global__ void once_write(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i;
}
__global__ void once_scale(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float4 v = x[i]; y[i] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2); }
}
__global__ void write_strided(float* y, long n, int stride) {
  long threads = (long)blockDim.x * gridDim.x;
  for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i * stride < n; i += threads) y[i * stride] = i;
}
// `sectors` of the four of every line, each by 8 neighbouring lanes.
__global__ void read_sectors(const float* x, float* sink, long n, int sectors) {
  long threads = (long)blockDim.x * gridDim.x;
  float sum = 0;
  for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x;; i += threads) {
    long sector = i / 8, at = sector / sectors * 32 + sector % sectors * 8 + i % 8;
    if (at >= n) break;
    sum += x[at];
  }
  if (sum == UNLIKELY) sink[0] = sum;
}
// Lines in an order that no DRAM page likes: element i is line (i * odd) of a power of two.
__global__ void read_scattered(const float* x, float* sink, long lines, long odd) {
  long warps = (long)blockDim.x * gridDim.x / 32;
  float sum = 0;
  for (long i = (threadIdx.x + (long)blockIdx.x * blockDim.x) / 32; i < lines; i += warps)
    sum += x[(i * odd & (lines - 1)) * 32 + threadIdx.x % 32];
  if (sum == UNLIKELY) sink[0] = sum;
}
// Two streams in, one out.
__global__ void merge(const float4* x, const float4* y, float4* z, long n) {
  long step = (long)blockDim.x * gridDim.x;
  for (long i = threadIdx.x + (long)blockIdx.x * blockDim.x; i < n; i += step) {
    float4 a = x[i], b = y[i];
    z[i] = make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
  }
}
}
