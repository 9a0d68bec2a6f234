// Kernels in the styles that people write, each with an obvious fault: tests/transform/test_obvious_faults.py says which
// change each must get.
#include <cfloat>

#define BLOCK_SIZE 256
__global__ void saxpyStrided(int n, float a, float *x, float *y)
{
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    if (tid >= n)
        return;
    y[tid] = a * x[tid] + y[tid];
}

#define TILE_DIM 32

__global__ void transposeTile(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM];

    int xIndex = blockIdx.x * TILE_DIM + threadIdx.x;
    int yIndex = blockIdx.y * TILE_DIM + threadIdx.y;
    if (xIndex < width && yIndex < height)
        tile[threadIdx.y][threadIdx.x] = idata[yIndex * width + xIndex];
    __syncthreads();

    xIndex = blockIdx.y * TILE_DIM + threadIdx.x;
    yIndex = blockIdx.x * TILE_DIM + threadIdx.y;
    if (xIndex < height && yIndex < width)
        odata[yIndex * height + xIndex] = tile[threadIdx.x][threadIdx.y];
}

__global__ void blockSum(const float *g_idata, float *g_odata, unsigned int n)
{
    extern __shared__ float sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();

    for (unsigned int s = 1; s < blockDim.x; s *= 2)
    {
        if ((tid % (2 * s)) == 0)
        {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0)
        g_odata[blockIdx.x] = sdata[0];
}

#define NUM_BINS 256
__global__ void histogram256(const unsigned char *data, int size, unsigned int *hist)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&hist[data[i]], 1);
        i += stride;
    }
}

__global__ void sigmoid(const float* __restrict__ in, float* __restrict__ out, const int n) {
  const int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < n) {
    float v = in[idx];
    out[idx] = 1.0 / (1.0 + exp(-2.0 * v)) + 0.5 * v * v;
  }
}

template <typename T>
__device__ T clampTo(T v, T lo, T hi) { return v < lo ? lo : (v > hi ? hi : v); }

__global__ void scaleRows(float* m, const float* factor, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) {
    m[row * cols + col] = clampTo(m[row * cols + col] * factor[row], -10.f, 10.f);
  }
}

template <typename T>
__global__ void addBias(const T* in, const T* bias, T* out, int size, int channels, int spatial) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < size) {
    int ch = (index / spatial) % channels;
    out[index] = in[index] + bias[ch];
  }
}

__global__ void matVec(float *A, float *x, float *y, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        y[i] = 0;
        for (int j = 0; j < cols; j++) {
            y[i] += A[i * cols + j] * x[j];
        }
    }
}

__global__ void norms(const float *pts, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = pts[4 * i + 0];
        float y = pts[4 * i + 1];
        float z = pts[4 * i + 2];
        float w = pts[4 * i + 3];
        out[i] = sqrtf(x * x + y * y + z * z) * w;
    }
}

// x is the slow axis, and blocks are small
__global__ void addGrids(const double *a, const double *b, double *c, int nx, int ny)
{
    int ix = threadIdx.x + blockIdx.x * blockDim.x;
    int iy = threadIdx.y + blockIdx.y * blockDim.y;
    unsigned int idx = ix * ny + iy;

    if (ix < nx && iy < ny)
    {
        c[idx] = a[idx] + b[idx];
    }
}

#define TAPS 16
#define THREADS 512

__global__ void fir(const float *in, const float *coef, float *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    {
        out[i] = 0.0f;
        for (int k = 0; k < TAPS; k++)
            out[i] += in[i + k] * coef[k];
    }
}

__global__ void maxAbs(const float *in, float *out, int n)
{
    __shared__ float cache[THREADS];
    const int tid = threadIdx.x;
    const int gid = blockIdx.x * THREADS + tid;
    cache[tid] = gid < n ? fabsf(in[gid]) : 0.0f;
    __syncthreads();
    for (int s = 1; s < THREADS; s <<= 1) {
        int index = 2 * s * tid;
        if (index < THREADS)
            cache[index] = fmaxf(cache[index], cache[index + s]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = cache[0];
}
