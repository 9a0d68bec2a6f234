// Launches of 0.3 to 10 ms on an H200: stencils, lattice methods and image filters
// (launches: launches.toml).

// One Jacobi step of the five-point stencil on a grid of w x h points.
extern "C" __global__ void jacobi_2d(const float* __restrict__ in, float* __restrict__ out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    size_t i = (size_t)y * w + x;
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - w] + in[i + w]);
}

// A stencil of all 27 neighbours in three dimensions, one thread for each column of a plane.
extern "C" __global__ void stencil_27(const float* __restrict__ in, float* __restrict__ out, int n, float centre,
                                      float face, float edge, float corner)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z + 1;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    size_t i = ((size_t)z * n + y) * n + x;
    float sum = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int away = abs(dx) + abs(dy) + abs(dz);
                float weight = away == 0 ? centre : away == 1 ? face : away == 2 ? edge : corner;
                sum += weight * in[i + ((long long)dz * n + dy) * n + dx];
            }
    out[i] = sum;
}

// The wave equation in two dimensions: a tile of 32 x 32 with its halo stays in shared memory for `steps` steps, of
// which the inner 32 - 2 * steps columns and rows are right and are written.
extern "C" __global__ void wave_tiles(const float* __restrict__ now, const float* __restrict__ before,
                                      float* __restrict__ out, int w, int h, int steps, float c)
{
    __shared__ float tiles[2][32][33];
    int inner = 32 - 2 * steps, x = blockIdx.x * inner + threadIdx.x, row = blockIdx.y * inner;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) {
        bool inside = x < w && row + y < h;
        size_t i = (size_t)(row + y) * w + x;
        tiles[0][y][threadIdx.x] = inside ? before[i] : 0;
        tiles[1][y][threadIdx.x] = inside ? now[i] : 0;
    }
    __syncthreads();
    int last = 1;
    for (int step = 1; step <= steps; step++) {
        int left = threadIdx.x;
        for (int y = threadIdx.y; y < 32; y += blockDim.y)
            if (left >= step && left < 32 - step && y >= step && y < 32 - step) {
                float (*u)[33] = tiles[last];
                float around = u[y][left - 1] + u[y][left + 1] + u[y - 1][left] + u[y + 1][left];
                tiles[1 - last][y][left] = 2 * u[y][left] - tiles[1 - last][y][left] + c * (around - 4 * u[y][left]);
            }
        last = 1 - last;
        __syncthreads();
    }
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        if (threadIdx.x >= steps && threadIdx.x < 32 - steps && y >= steps && y < 32 - steps && x < w && row + y < h)
            out[(size_t)(row + y) * w + x] = tiles[last][y][threadIdx.x];
}

__constant__ int vx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int vy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float share[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};

// Lattice Boltzmann with nine velocities (D2Q9): collide, then push to the neighbours of a periodic grid.
extern "C" __global__ void lattice_d2q9(const float* __restrict__ in, float* __restrict__ out, int w, int h,
                                        float omega)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    size_t plane = (size_t)w * h, i = (size_t)y * w + x;
    float f[9], density = 1, px = 0, py = 0;
#pragma unroll
    for (int q = 0; q < 9; q++) {
        f[q] = in[q * plane + i];
        density += f[q];
        px += vx[q] * f[q];
        py += vy[q] * f[q];
    }
    float ux = px / density, uy = py / density, square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int q = 0; q < 9; q++) {
        float along = 3 * (vx[q] * ux + vy[q] * uy);
        float balanced = share[q] * density * (1 + along + 0.5f * along * along - square);
        int tox = (x + vx[q] + w) % w, toy = (y + vy[q] + h) % h;
        out[q * plane + (size_t)toy * w + tox] = f[q] + omega * (balanced - f[q]);
    }
}

// Bilateral filter: weights fall with the distance and with the difference in brightness.
extern "C" __global__ void bilateral_filter(const float* __restrict__ in, float* __restrict__ out, int w, int h,
                                            int radius, float space, float range)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float middle = in[y * w + x], sum = 0, weights = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int sx = min(max(x + dx, 0), w - 1), sy = min(max(y + dy, 0), h - 1);
            float value = in[sy * w + sx], off = value - middle;
            float weight = __expf(-space * (dx * dx + dy * dy) - range * off * off);
            sum += weight * value;
            weights += weight;
        }
    out[y * w + x] = sum / weights;
}

// Median of 5 x 5 bytes: the value of which twelve are smaller, by counting.
extern "C" __global__ void median_rank(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int w,
                                       int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
    int v[25];
#pragma unroll
    for (int i = 0; i < 25; i++) v[i] = in[(y + i / 5 - 2) * w + x + i % 5 - 2] * 32 + i;
    int found = 0;
#pragma unroll
    for (int i = 0; i < 25; i++) {
        int smaller = 0;
#pragma unroll
        for (int j = 0; j < 25; j++) smaller += v[j] < v[i];
        if (smaller == 12) found = v[i];
    }
    out[y * w + x] = found / 32;
}

// Convolution of images with 3 x 3 weights for each pair of channels: a block makes 16 x 16 points of eight channels.
extern "C" __global__ void convolve_channels(const float* __restrict__ in, const float* __restrict__ weights,
                                             float* __restrict__ out, int channels, int w, int h)
{
    __shared__ float tile[18][19], taps[8][9];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, first = blockIdx.z * 8;
    int thread = threadIdx.y * 16 + threadIdx.x;
    float sum[8] = {};
    for (int c = 0; c < channels; c++) {
        __syncthreads();
        for (int i = thread; i < 18 * 18; i += 256) {
            int sx = blockIdx.x * 16 + i % 18 - 1, sy = blockIdx.y * 16 + i / 18 - 1;
            tile[i / 18][i % 18] = sx >= 0 && sy >= 0 && sx < w && sy < h ? in[((size_t)c * h + sy) * w + sx] : 0;
        }
        if (thread < 72) taps[thread / 9][thread % 9] = weights[((first + thread / 9) * channels + c) * 9 + thread % 9];
        __syncthreads();
#pragma unroll
        for (int t = 0; t < 9; t++) {
            float value = tile[threadIdx.y + t / 3][threadIdx.x + t % 3];
#pragma unroll
            for (int k = 0; k < 8; k++) sum[k] += taps[k][t] * value;
        }
    }
    if (x < w && y < h)
        for (int k = 0; k < 8; k++) out[((size_t)(first + k) * h + y) * w + x] = sum[k];
}

// Transpose with reads in order and writes a column apart.
extern "C" __global__ void transpose_columns(const float* __restrict__ in, float* __restrict__ out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) out[(size_t)x * n + y] = in[(size_t)y * n + x];
}

// Distance to the nearest set byte of the same row, forth and back: a thread for each row.
extern "C" __global__ void row_distances(const unsigned char* __restrict__ in, int* __restrict__ out, int w, int h)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    int far = w;
    for (int x = 0; x < w; x++) {
        far = in[(size_t)y * w + x] > 250 ? 0 : far + 1;
        out[(size_t)y * w + x] = far;
    }
    for (int x = w - 1; x >= 0; x--) {
        far = min(far + 1, out[(size_t)y * w + x]);
        out[(size_t)y * w + x] = far;
    }
}

// Summed areas, the step along columns: a thread for each column adds from top to bottom.
extern "C" __global__ void integral_columns(const float* __restrict__ in, double* __restrict__ out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    double sum = 0;
    for (int y = 0; y < h; y++) {
        sum += in[(size_t)y * w + x];
        out[(size_t)y * w + x] = sum;
    }
}
