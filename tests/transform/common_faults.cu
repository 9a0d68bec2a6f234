// More kernels in the styles that people write, each with an obvious fault (see obvious_faults.cu): how the work is
// shared out among threads, and what they join.

__global__ void columnSums(const float *m, float *sums, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float acc = 0;
    for (int r = 0; r < rows; r++)
        acc += m[r * cols + c];
    sums[c] = acc;
}

__global__ void addChunks(const float* a, const float* b, float* c, int n) {
  int worker = blockIdx.x * blockDim.x + threadIdx.x;
  int workers = gridDim.x * blockDim.x;
  int chunk = (n + workers - 1) / workers;
  int begin = worker * chunk, end = min(begin + chunk, n);
  for (int i = begin; i < end; ++i)
    c[i] = a[i] + b[i];
}

#define THREADS 256
__global__ void dotByThreadZero(float *a, float *b, float *result, int n)
{
    __shared__ float products[THREADS];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0.0f;
    __syncthreads();

    if (0 == threadIdx.x) {
        float sum = 0;
        for (int k = 0; k < THREADS; k++)
            sum += products[k];
        atomicAdd(result, sum);
    }
}

__global__ void dotOfStrides(const float *a, const float *b, float *partial, int n)
{
    __shared__ float cache[THREADS];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int mine = threadIdx.x;
    float sum = 0;
    while (i < n) {
        sum += a[i] * b[i];
        i += blockDim.x * gridDim.x;
    }
    cache[mine] = sum;
    __syncthreads();

    int half = blockDim.x / 2;
    while (half != 0) {
        if (mine < half)
            cache[mine] += cache[mine + half];
        __syncthreads();
        half /= 2;
    }
    if (mine == 0) partial[blockIdx.x] = cache[0];
}

__global__ void countPositive(const float *x, int *count, int n)
{
    const int tid = blockIdx.x*blockDim.x+threadIdx.x;
    if(tid >= n) return;
    if (x[tid] > 0.f)
        atomicAdd(count, 1);
}

__global__ void flatTranspose(float *out, const float *in, int width, int height)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < width && row < height)
        out[col * height + row] = in[row * width + col];
}

__global__ void scaleVolume(double *v, double f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= n || j >= n || k >= n) return;
    v[(i * n + j) * n + k] *= f;
}

__global__ void fewBlocks(const float* in, float* out, int n) {
  int start = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = start; i < n; i += blockDim.x * gridDim.x)
    out[i] = rsqrtf(in[i] * in[i] + 1.0f);
}

__global__ void normalizeRows(const float* in, float* out, float* lengths, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    const float* row = in + r * width;
    float* own = out + r * width;
    if (r < rows) {
        float peak = 0.0f;
        for (int k = 0; k < width; k++) {
            if (row[k] > peak) {
                peak = row[k];
            }
        }
        float squares = 0.0f;
        for (int k = 0; k < width; k++) {
            own[k] = row[k] / peak;
            squares = squares + own[k] * own[k];
        }
        lengths[r] = sqrtf(squares);
    }
}

__global__ void product(float *A, float *B, float *C, int N)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < N && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < N; k++) {
            sum += A[row * N + k] * B[k * N + col];
        }
        C[row * N + col] = sum;
    }
}

__global__ void permute(const float* in, float* out, int total, int C, int H, int W)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {
        int c = i % C;
        int w = (i / C) % W;
        int h = (i / C / W) % H;
        int n = i / C / W / H;
        out[i] = in[((n * C + c) * H + h) * W + w];
    }
}

extern "C" __global__ void castBound(const float* x, float* y, int n)
{
    const unsigned gid = blockDim.x * blockIdx.x + threadIdx.x;
    if (gid >= static_cast<unsigned>(n)) { return; }
    y[gid] = 2.f * x[gid];
}
