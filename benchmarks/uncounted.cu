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

// Electric potential of points on a grid: an rsqrt for each charge.
extern "C" __global__ void potential(const float4* charges, int count, float* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0.1f * threadIdx.x, y = 0.1f * blockIdx.x, sum = 0;
    for (int k = 0; k < count; k++) {
        float4 c = charges[k];
        float dx = x - c.x, dy = y - c.y;
        sum += c.w * rsqrtf(dx * dx + dy * dy + c.z);
    }
    sums[i] = sum;
}

// Entropy of each row of 64 numbers, and the phase of its sum: logarithm, exponential, sine.
extern "C" __global__ void entropies(const float* rows, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float sum = 0, phase = 0;
    for (int k = 0; k < 64; k++) {
        float p = rows[k * n + i];
        sum -= p * __log2f(p);
        phase += __expf(-p) * __sinf(p);
    }
    out[i] = sum + phase;
}

// 64 steps of a walk through a permutation.
extern "C" __global__ void walks(const int* next, int* ends) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    for (int k = 0; k < 64; k++) at = next[at];
    ends[i] = at;
}

// The same through a table in shared memory.
extern "C" __global__ void shared_walks(const int* next, int* ends) {
    __shared__ int table[4096];
    for (int k = threadIdx.x; k < 4096; k += blockDim.x) table[k] = next[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i & 4095;
    for (int k = 0; k < 64; k++) at = table[at];
    ends[i] = at;
}

// Each lane counts the steps to the end of its own list, which most lanes of a warp reach at once.
extern "C" __global__ void uneven_walks(const int* next, const int* lengths, int* ends) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    for (int k = lengths[i]; k > 0; k--) at = next[at] ^ (k & 1);
    ends[i] = at;
}
