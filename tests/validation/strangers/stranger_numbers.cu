// Numbers: sparse and dense algebra, and language models without tensor cores.
#include <cuda_fp16.h>
// /// warplens
// [block_quantised]
// grid = 24
// block = [32, 4]
// args = ["random:u8[13824]", "random:u8[576]", "zeros:f32[96]", "8"]
// [quantise_rows]
// grid = 6
// block = 128
// args = ["random:f32[3072](-3,3)", "zeros:i8[3072]", "zeros:f32[96]"]
// [flash_rows]
// grid = [3, 2]
// block = 32
// shared = 12800
// args = ["random:f32[6144]", "random:f32[6144]", "random:f32[6144]", "zeros:f32[6144]", "96", "0.17677669f"]
// [layernorm_backward]
// grid = 5
// block = 128
// shared = 1024
// args = ["zeros:f32[2560]", "zeros:f32[128]", "zeros:f32[128]", "random:f32[2560]", "random:f32[2560]", "random:f32[128]", "random:f32[20]", "random:f32[20](1,2)", "20", "128"]
// [argsort_rows]
// grid = 5
// block = 128
// shared = 512
// args = ["random:f32[500]", "zeros:i32[500]", "100"]
// [top_two_experts]
// grid = 10
// block = 64
// args = ["random:f32[5120]", "zeros:i32[1280]", "zeros:f32[1280]", "zeros:i32[8]", "640"]
// [gemm_vectors]
// grid = [2, 3]
// block = [16, 16]
// args = ["random:f32[12288]", "random:f32[8192]", "zeros:f32[24576]", "192", "128", "64"]
// [jagged_diagonals]
// grid = 5
// block = 64
// args = ["random:f32[3000]", "random:i32[3000](0,300)", "random:i32[300](1,10)", "random:f32[300]", "zeros:f32[300]", "300"]
// [gram_schmidt]
// grid = 3
// block = 128
// args = ["random:f32[4800](1,2)", "random:f32[4800]", "zeros:f32[4800]", "60", "80", "3"]
// [alternating]
// grid = 2
// block = 40
// args = ["random:f32[6400](1,2)", "random:f32[6400](1,2)", "zeros:f32[6400]", "80"]
// ///
extern "C" {

struct __align__(2) Q4 { half d; unsigned char qs[16]; };
struct Q8 { half d; half s; signed char qs[32]; };
__global__ void block_quantised(const unsigned char *weights, const unsigned char *activations, float *out, int blocks) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = threadIdx.x / 4; i < blocks; i += 8) {
    const Q4 *w = (const Q4 *)weights + row * blocks + i;
    const Q8 *a = (const Q8 *)activations + i;
    int part = threadIdx.x % 4, v;
    const unsigned short *halves = (const unsigned short *)(w->qs + 4 * part);
    v = halves[0] | halves[1] << 16;
    int low = *(const int *)(a->qs + 4 * part), high = *(const int *)(a->qs + 16 + 4 * part);
    int dot = __dp4a(v & 0x0f0f0f0f, low, __dp4a(v >> 4 & 0x0f0f0f0f, high, 0));
    float dw = __half2float(__ushort_as_half(__half_as_ushort(w->d) & 0x3bff)), da = __half2float(__ushort_as_half(__half_as_ushort(a->d) & 0x3bff));
    sum += dw * da * (dot - 8 * (part + 1));
  }
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, o, 32);
  if (threadIdx.x == 0) out[row] = sum;
}

__global__ void quantise_rows(const float *x, signed char *q, float *scales) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < 3072; i += gridDim.x * blockDim.x) {
    float v = x[i], top = fabsf(v);
    for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
    float d = top / 127;
    q[i] = top == 0 ? 0 : roundf(v / d);
    if ((threadIdx.x & 31) == 0) scales[i / 32] = d;
  }
}

__global__ void flash_rows(const float *Q, const float *K, const float *V, float *O, int n, float scale) {
  extern __shared__ float shared[];
  const int D = 32;
  float *kj = shared, *vj = kj + 32 * (D + 1), *s = vj + 32 * D;
  int base = (blockIdx.x * gridDim.y + blockIdx.y) * 0 + blockIdx.y * n * D, t = threadIdx.x, row = blockIdx.x * 32 + t;
  float q[D], acc[D], m = -1e30f, l = 0;
  for (int d = 0; d < D; d++) { q[d] = Q[base + row * D + d]; acc[d] = 0; }
  for (int j = 0; j <= blockIdx.x; j++) {
    for (int r = 0; r < 32; r++) {
      kj[r * (D + 1) + t] = K[base + (j * 32 + r) * D + t];
      vj[r * D + t] = V[base + (j * 32 + r) * D + t];
    }
    __syncthreads();
    float top = m;
    for (int c = 0; c < 32; c++) {
      if (j * 32 + c > row) break;
      float sum = 0;
      for (int d = 0; d < D; d++) sum += q[d] * kj[c * (D + 1) + d];
      sum *= scale;
      s[t * 33 + c] = sum;
      top = fmaxf(top, sum);
    }
    float correction = exp2f(m - top);
    l *= correction;
    for (int d = 0; d < D; d++) acc[d] *= correction;
    for (int c = 0; c < 32; c++) {
      if (j * 32 + c > row) break;
      float p = exp2f(s[t * 33 + c] - top);
      l += p;
      for (int d = 0; d < D; d++) acc[d] += p * vj[c * D + d];
    }
    m = top;
    __syncthreads();
  }
  for (int d = 0; d < D; d++) O[base + row * D + d] = acc[d] / l;
}

__global__ void layernorm_backward(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w,
                                   const float *mean, const float *rstd, int rows, int C) {
  extern __shared__ float sums[];
  float *db_s = sums, *dw_s = sums + C;
  for (int i = threadIdx.x; i < C; i += blockDim.x) { db_s[i] = 0; dw_s[i] = 0; }
  __syncthreads();
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32, row = blockIdx.x * (blockDim.x / 32) + warp;
  if (row < rows) {
    const float *d = dout + row * C, *xi = x + row * C;
    float a = 0, b = 0;
    for (int i = lane; i < C; i += 32) {
      float norm = (xi[i] - mean[row]) * rstd[row], dn = w[i] * d[i];
      a += dn; b += dn * norm;
    }
    for (int o = 16; o; o >>= 1) { a += __shfl_xor_sync(~0u, a, o); b += __shfl_xor_sync(~0u, b, o); }
    a /= C; b /= C;
    for (int i = lane; i < C; i += 32) {
      float norm = (xi[i] - mean[row]) * rstd[row];
      dx[row * C + i] += (w[i] * d[i] - a - norm * b) * rstd[row];
      atomicAdd(&db_s[i], rintf(d[i] * 64));
      atomicAdd(&dw_s[i], rintf(norm * d[i] * 64));
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < C; i += blockDim.x) { atomicAdd(&db[i], db_s[i]); atomicAdd(&dw[i], dw_s[i]); }
}

__global__ void argsort_rows(const float *x, int *out, int columns) {
  extern __shared__ int rows[];
  int col = threadIdx.x, row = blockIdx.x;
  const float *xr = x + row * columns;
  rows[col] = col;
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = col ^ j;
      if (other > col) {
        int a = rows[col], b = rows[other];
        bool swap;
        if ((col & k) == 0) swap = a >= columns || (b < columns && xr[a] > xr[b]);
        else swap = b >= columns || (a < columns && xr[a] < xr[b]);
        if (swap) { rows[col] = b; rows[other] = a; }
      }
      __syncthreads();
    }
  if (col < columns) out[row * columns + col] = rows[col];
}

__global__ void top_two_experts(const float *logits, int *which, float *weights, int *load, int tokens) {
  __shared__ int mine[8];
  if (threadIdx.x < 8) mine[threadIdx.x] = 0;
  __syncthreads();
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token < tokens) {
    float l[8];
    for (int e = 0; e < 8; e += 4) *(float4 *)(l + e) = *(const float4 *)(logits + token * 8 + e);
    int first = 0, second = -1;
    for (int e = 1; e < 8; e++) if (l[e] > l[first]) first = e;
    for (int e = 0; e < 8; e++) if (e != first && (second < 0 || l[e] > l[second])) second = e;
    float r = exp2f(l[second] - l[first]), total = 1 + r;
    *(int2 *)(which + 2 * token) = make_int2(first, second);
    *(float2 *)(weights + 2 * token) = make_float2(1 / total, r / total);
    atomicAdd(&mine[first], 1);
    atomicAdd(&mine[second], 1);
  }
  __syncthreads();
  if (threadIdx.x < 8 && mine[threadIdx.x]) atomicAdd(&load[threadIdx.x], mine[threadIdx.x]);
}

__global__ __launch_bounds__(256) void gemm_vectors(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float As[8][64], Bs[8][64];
  int t = threadIdx.y * 16 + threadIdx.x, r0 = blockIdx.y * 64, c0 = blockIdx.x * 64;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 8) {
    if (t < 128) {
      float4 v = *(const float4 *)(A + (r0 + t / 2) * K + k0 + (t & 1) * 4);
      As[(t & 1) * 4 + 0][t / 2] = v.x; As[(t & 1) * 4 + 1][t / 2] = v.y;
      As[(t & 1) * 4 + 2][t / 2] = v.z; As[(t & 1) * 4 + 3][t / 2] = v.w;
    } else {
      int u = t - 128;
      *(float4 *)&Bs[u / 16][u % 16 * 4] = *(const float4 *)(B + (k0 + u / 16) * N + c0 + u % 16 * 4);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float4 a = *(float4 *)&As[k][threadIdx.y * 4], b = *(float4 *)&Bs[k][threadIdx.x * 4];
      float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] += av[i] * bv[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    *(float4 *)(C + (r0 + threadIdx.y * 4 + i) * N + c0 + threadIdx.x * 4) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

__global__ void jagged_diagonals(const float *data, const int *index, const int *length, const float *x, float *y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  int bound = length[row];
  float sum = 0;
  for (int k = 0; k < bound; k++) {
    int j = k * n + row;
    sum += data[j] * x[index[j]];
    if (k + 1 < bound) { int next = index[j + n]; sum += 0.0f * next; }
  }
  y[(row * 7) % n] = sum;
}

__global__ void gram_schmidt(float *a, float *r, float *q, int rows, int columns, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j == k) {
    float norm = 0;
    for (int i = 0; i < rows; i++) norm += a[i * columns + k] * a[i * columns + k];
    r[k * columns + k] = sqrtf(norm);
  }
  if (j > k && j < columns) {
    float sum = 0;
    for (int i = 0; i < rows; i++) sum += a[i * columns + k] * a[i * columns + j];
    r[k * columns + j] = sum;
    for (int i = 0; i < rows; i++) q[i * columns + j] = a[i * columns + j] - a[i * columns + k] * sum;
  }
}

__global__ void alternating(const float *a, float *b, float *x, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    for (int c = 1; c < n; c++) {
      x[row * n + c] = x[row * n + c] - x[row * n + c - 1] * a[row * n + c] / b[row * n + c - 1];
      b[row * n + c] = b[row * n + c] - a[row * n + c] * a[row * n + c] / b[row * n + c - 1];
    }
    x[row * n + n - 1] /= b[row * n + n - 1];
    for (int c = n - 2; c >= 0; c--)
      x[row * n + c] = (x[row * n + c] - x[row * n + c + 1] * a[row * n + c]) / b[row * n + c];
  }
}
}
