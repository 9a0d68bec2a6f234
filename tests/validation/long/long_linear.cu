// Launches of 0.3 to 10 ms on an H200: dense and sparse linear algebra, Fourier transforms
// (launches: launches.toml).
#include <cuda_fp16.h>
#include <mma.h>

// C = A B in double precision, an element a thread.
extern "C" __global__ void dgemm_element(const double* __restrict__ a, const double* __restrict__ b,
                                         double* __restrict__ c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

// C = A B with tiles of 64 x 64 in shared memory, 4 x 4 elements a thread; n is a multiple of 64.
extern "C" __global__ void __launch_bounds__(256) sgemm_registers(const float* __restrict__ a,
                                                                  const float* __restrict__ b, float* __restrict__ c,
                                                                  int n)
{
    __shared__ float at[16][64], bt[16][64];
    int thread = threadIdx.x, tx = thread % 16, ty = thread / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        float4 fa = *reinterpret_cast<const float4*>(&a[(size_t)(row + thread / 4) * n + k + thread % 4 * 4]);
        float4 fb = *reinterpret_cast<const float4*>(&b[(size_t)(k + thread / 16) * n + column + thread % 16 * 4]);
        __syncthreads();
        at[thread % 4 * 4][thread / 4] = fa.x;
        at[thread % 4 * 4 + 1][thread / 4] = fa.y;
        at[thread % 4 * 4 + 2][thread / 4] = fa.z;
        at[thread % 4 * 4 + 3][thread / 4] = fa.w;
        *reinterpret_cast<float4*>(&bt[thread / 16][thread % 16 * 4]) = fb;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float4 left = *reinterpret_cast<float4*>(&at[i][ty * 4]);
            float4 top = *reinterpret_cast<float4*>(&bt[i][tx * 4]);
            float l[4] = {left.x, left.y, left.z, left.w}, t[4] = {top.x, top.y, top.z, top.w};
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++) sum[p][q] += l[p] * t[q];
        }
    }
    for (int p = 0; p < 4; p++)
        *reinterpret_cast<float4*>(&c[(size_t)(row + ty * 4 + p) * n + column + tx * 4]) =
            make_float4(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
}

// C = A B of halves on tensor cores, straight from global memory: a warp makes 32 x 32; n is a multiple of 128.
extern "C" __global__ void hgemm_fragments(const half* __restrict__ a, const half* __restrict__ b,
                                           float* __restrict__ c, int n)
{
    using namespace nvcuda::wmma;
    int warp = threadIdx.x / 32, row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    fragment<accumulator, 16, 16, 16, float> sum[2][2];
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++) fill_fragment(sum[p][q], 0);
    for (int k = 0; k < n; k += 16) {
        fragment<matrix_a, 16, 16, 16, half, row_major> left[2];
        fragment<matrix_b, 16, 16, 16, half, row_major> top[2];
        for (int p = 0; p < 2; p++) load_matrix_sync(left[p], a + (size_t)(row + 16 * p) * n + k, n);
        for (int q = 0; q < 2; q++) load_matrix_sync(top[q], b + (size_t)k * n + column + 16 * q, n);
        for (int p = 0; p < 2; p++)
            for (int q = 0; q < 2; q++) mma_sync(sum[p][q], left[p], top[q], sum[p][q]);
    }
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++)
            store_matrix_sync(c + (size_t)(row + 16 * p) * n + column + 16 * q, sum[p][q], n, mem_row_major);
}

// C = A B of bytes, four products an instruction: 32 x 32 tiles of words, 2 x 2 elements a thread.
extern "C" __global__ void igemm_dp4a(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ c, int n)
{
    __shared__ int at[32][33], bt[32][33];
    int words = n / 4, tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32, column = blockIdx.x * 32;
    int sum[2][2] = {};
    for (int k = 0; k < words; k += 32) {
        __syncthreads();
        for (int i = ty * 16 + tx; i < 1024; i += 256) {
            at[i / 32][i % 32] = a[(row + i / 32) * words + k + i % 32];
            bt[i / 32][i % 32] = b[(column + i / 32) * words + k + i % 32];
        }
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < 32; i++)
            for (int p = 0; p < 2; p++)
                for (int q = 0; q < 2; q++)
                    sum[p][q] = __dp4a(at[ty + 16 * p][i], bt[tx + 16 * q][i], sum[p][q]);
    }
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++) c[(row + ty + 16 * p) * n + column + tx + 16 * q] = sum[p][q];
}

// Cholesky factor of 32 x 32 matrices, a warp for each; `shift` makes the diagonal heavy enough.
extern "C" __global__ void cholesky_batch(const float* __restrict__ in, float* __restrict__ out, int count, float shift)
{
    __shared__ float tile[4][32][33];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, matrix = blockIdx.x * 4 + warp;
    if (matrix >= count) return;
    float (*m)[33] = tile[warp];
    for (int r = 0; r < 32; r++) m[r][lane] = in[(size_t)matrix * 1024 + r * 32 + lane] + (r == lane ? shift : 0);
    __syncwarp();
    for (int k = 0; k < 32; k++) {
        float pivot = sqrtf(m[k][k]);
        __syncwarp();
        if (lane >= k) m[lane][k] = lane == k ? pivot : m[lane][k] / pivot;
        __syncwarp();
        for (int j = k + 1; j < 32; j++)
            if (lane >= j) m[lane][j] -= m[lane][k] * m[j][k];
        __syncwarp();
    }
    for (int r = 0; r < 32; r++) out[(size_t)matrix * 1024 + r * 32 + lane] = lane <= r ? m[r][lane] : 0;
}

// LU factors without pivoting of n x n doubles in global memory, a block for each matrix.
extern "C" __global__ void lu_block(double* a, int n, double shift)
{
    double* m = a + (size_t)blockIdx.x * n * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) m[i * n + i] += shift;
    __syncthreads();
    for (int k = 0; k < n - 1; k++) {
        for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) m[i * n + k] /= m[k * n + k];
        __syncthreads();
        int side = n - k - 1;
        for (int i = threadIdx.x; i < side * side; i += blockDim.x) {
            int r = k + 1 + i / side, c = k + 1 + i % side;
            m[r * n + c] -= m[r * n + k] * m[k * n + c];
        }
        __syncthreads();
    }
}

// L X = B for many right-hand sides: a thread solves one column, which stays in global memory.
extern "C" __global__ void triangular_solve(const float* __restrict__ lower, float* x, int n, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (int r = 0; r < n; r++) {
        float sum = x[(size_t)r * columns + column];
        for (int k = 0; k < r; k++) sum -= lower[r * n + k] * x[(size_t)k * columns + column];
        x[(size_t)r * columns + column] = sum;
    }
}

// Sparse matrix (compressed rows) times vector, a thread for each row.
extern "C" __global__ void spmv_row_thread(const int* __restrict__ starts, const int* __restrict__ columns,
                                           const float* __restrict__ values, const float* __restrict__ x,
                                           float* __restrict__ y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++) sum += values[i] * x[columns[i]];
    y[row] = sum;
}

// The same by a warp for each row.
extern "C" __global__ void spmv_row_warp(const int* __restrict__ starts, const int* __restrict__ columns,
                                         const float* __restrict__ values, const float* __restrict__ x,
                                         float* __restrict__ y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) y[row] = sum;
}

// Sparse matrix with `wide` values in each row times 32 dense columns, a warp for each row.
extern "C" __global__ void spmm_ell(const int* __restrict__ columns, const float* __restrict__ values,
                                    const float* __restrict__ x, float* __restrict__ y, int rows, int wide)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = 0; i < wide; i++) {
        size_t at = (size_t)row * wide + i;
        sum += values[at] * x[(size_t)columns[at] * 32 + lane];
    }
    y[(size_t)row * 32 + lane] = sum;
}

// Fourier transforms of 1,024 points in shared memory, radix 2, a block of 512 for each.
extern "C" __global__ void fft_1024(float2* data)
{
    __shared__ float2 s[1024];
    int t = threadIdx.x;
    float2* mine = data + (size_t)blockIdx.x * 1024;
    s[__brev(t) >> 22] = mine[t];
    s[__brev(t + 512) >> 22] = mine[t + 512];
    for (int half = 1; half < 1024; half *= 2) {
        __syncthreads();
        int at = t / half * half * 2 + t % half;
        float sine, cosine;
        __sincosf(-3.14159265f * (t % half) / half, &sine, &cosine);
        float2 a = s[at], b = s[at + half];
        float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
        s[at] = make_float2(a.x + turned.x, a.y + turned.y);
        s[at + half] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    mine[t] = s[t];
    mine[t + 512] = s[t + 512];
}

// Fourier sums at free frequencies (a non-uniform transform): each thread adds all n samples at its frequency.
extern "C" __global__ void fourier_direct(const float* __restrict__ samples, const float* __restrict__ frequencies,
                                          float2* __restrict__ out, int n, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float f = frequencies[i], re = 0, im = 0;
    for (int k = 0; k < n; k++) {
        float sine, cosine, value = samples[k];
        sincospif(f * k, &sine, &cosine);
        re += value * cosine;
        im += value * sine;
    }
    out[i] = make_float2(re, im);
}
