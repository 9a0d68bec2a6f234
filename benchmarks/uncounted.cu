// One kernel of each kind that programs launch over and over; benchmarks/uncounted.py runs them with and without counters.
extern "C" __global__ void bitonic_step(int* keys, int distance, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
    if (other <= i) return;
    int a = keys[i], b = keys[other];
    if (((i & length) == 0) == (a > b)) {
        keys[i] = b;
        keys[other] = a;
    }
}

extern "C" __global__ void scan_blocks(const int* in, int* out) {
    __shared__ int sums[2][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, side = 0;
    sums[0][t] = in[i];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2, side ^= 1) {
        sums[side ^ 1][t] = sums[side][t] + (t >= step ? sums[side][t - step] : 0);
        __syncthreads();
    }
    out[i] = sums[side][t];
}

extern "C" __global__ void binary_search(const long* sorted, int n, const long* keys, int* found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n;
    long key = keys[i];
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (key < sorted[middle]) high = middle;
        else low = middle;
    }
    found[i] = low;
}

extern "C" __global__ void heat_step(const double* from, double* to, int n, double k) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * n + x;
    if (x >= n || y >= n) return;
    double sum = (x ? from[i - 1] : 0) + (x < n - 1 ? from[i + 1] : 0) + (y ? from[i - n] : 0);
    to[i] = (1 - 4 * k) * from[i] + k * (sum + (y < n - 1 ? from[i + n] : 0));
}

extern "C" __global__ void sgemm_tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float of_a[16][16], of_b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        of_a[ty][tx] = a[row * n + t + tx];
        of_b[ty][tx] = b[(t + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += of_a[ty][k] * of_b[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void copy(const float* from, float* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

extern "C" __global__ void histogram(const unsigned* values, unsigned* bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[values[i] & 1023], 1u);
}
