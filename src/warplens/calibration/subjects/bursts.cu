// What all ask for at once: loads that stores follow, and the two halves of 64 bytes by two warps.
extern "C" {
#define BURST(U)                                                                      \
  __global__ void burst_read_##U(const float4* x, float* sink) {                      \
    int step = blockDim.x * gridDim.x, at = threadIdx.x + blockIdx.x * blockDim.x;    \
    float4 a[U];                                                                      \
    float s = 0;                                                                      \
    UNROLLED(U) a[i] = x[at + i * step];                                              \
    UNROLLED(U) s += all(a[i]);                                                       \
    if (s == UNLIKELY) sink[0] = s;                                                   \
  }                                                                                   \
  __global__ void burst_copy_##U(const float4* x, float4* y) {                        \
    int step = blockDim.x * gridDim.x, at = threadIdx.x + blockIdx.x * blockDim.x;    \
    float4 a[U];                                                                      \
    UNROLLED(U) a[i] = x[at + i * step];                                              \
    UNROLLED(U) y[at + i * step] = a[i];                                              \
  }
BURST(1)
BURST(4)
__global__ void burst_sum(const float4* x, const float4* y, float4* z) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float4 a = x[i], b = y[i];
  z[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
// Warp 0 loads the first sector of each line, warp 1 so many cycles later the sector `second`: what warp 1 waits.
__global__ void neighbour(long long* ticks, const float* p, float* sink, int lines, int second, int later) {
  __shared__ long long begun;
  float s = 0;
  int warp = threadIdx.x / 32;
  for (int n = 0; n < lines; ++n) {
    long long t0 = clock64();
    if (threadIdx.x == 0) begun = t0;
    __syncthreads();
    t0 = begun;
    if (warp) while (clock64() < t0 + later) {}
    t0 = clock64();
    s += p[n * 1056 + (warp ? second * 8 : 0) + threadIdx.x % 8 + (s == UNLIKELY)];
    if (s == UNLIKELY) sink[0] = s;
    long long t1 = clock64();
    if (threadIdx.x == 32) ticks[n] = t1 - t0;
    __syncthreads();
  }
}
// All blocks go through the same lines, one after the other, of which nobody has read any; each block some cycles later
// than the one before.
__global__ void together(long long* ticks, const unsigned* p, unsigned* sink, int lines, int apart, int later) {
  unsigned at = 0;
  long long begun = clock64();
  while (clock64() < begun + (long long)later * blockIdx.x) {}
  TICKS(for (int n = 0; n < lines; ++n) at += p[(long)n * apart + at + threadIdx.x % 8])
  if (at == 123456789u) sink[0] = at;
}
// Each block loads a line that nobody has read, then one that another block has loaded a step before.
__global__ void ring(long long* ticks, const unsigned* p, unsigned* sink, int lines, int apart) {
  unsigned at = 0, mine = blockIdx.x * lines, theirs = (blockIdx.x + 1) % gridDim.x * lines;
  TICKS(for (int n = 0; n < lines; ++n) {
    at += p[(long)(mine + n) * apart + at + threadIdx.x % 8];
    at += p[(long)(theirs + max(n - 1, 0)) * apart + at + threadIdx.x % 8];
  })
  if (at == 123456789u) sink[0] = at;
}
}
