// Settlers: what books and courses begin with (launches: launches.toml).
#include <cuda_pipeline.h>

// C = A + B for matrices that stand row by row: the exercise with a thread for each row, for each column, for each
// element, and the version that people end up with.
extern "C" __global__ void matAddRowPerThread(float* C, const float* A, const float* B, int width, int height)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < height) {
        for (int col = 0; col < width; col++) {
            C[row * width + col] = A[row * width + col] + B[row * width + col];
        }
    }
}

extern "C" __global__ void matAddColPerThread(float* C, const float* A, const float* B, int width, int height)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < width) {
        for (int row = 0; row < height; row++) {
            C[row * width + col] = A[row * width + col] + B[row * width + col];
        }
    }
}

extern "C" __global__ void matAdd2D(float* C, const float* A, const float* B, int width, int height)
{
    int col = threadIdx.x + blockIdx.x * blockDim.x;
    int row = threadIdx.y + blockIdx.y * blockDim.y;
    if (col < width && row < height) {
        int i = row * width + col;
        C[i] = A[i] + B[i];
    }
}

extern "C" __global__ void matAddVec4(float* __restrict__ C, const float* __restrict__ A, const float* __restrict__ B,
                                      int width, int height)
{
    size_t total = (size_t)width * height, quads = total / 4;
    size_t tid = (size_t)blockIdx.x * blockDim.x + threadIdx.x, stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = tid; i < quads; i += stride) {
        float4 a = reinterpret_cast<const float4*>(A)[i];
        float4 b = reinterpret_cast<const float4*>(B)[i];
        reinterpret_cast<float4*>(C)[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    for (size_t i = 4 * quads + tid; i < total; i += stride) C[i] = A[i] + B[i];
}

// Pi as the area under 4 / (1 + x^2): rectangles in double, a sum for each block.
extern "C" __global__ void piRectangles(double* partial, long long steps)
{
    extern __shared__ double cache[];
    double step = 1.0 / (double)steps, sum = 0.0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < steps;
         i += (long long)gridDim.x * blockDim.x) {
        double x = (i + 0.5) * step;
        sum += 4.0 / (1.0 + x * x);
    }
    int cacheIndex = threadIdx.x;
    cache[cacheIndex] = sum;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0) partial[blockIdx.x] = cache[0] * step;
}

// The electric potential in a plane of grid points, summed up over all atoms (x, y, z, charge).
extern "C" __global__ void cenergyPlain(float* energygrid, int nx, int ny, float gridspacing, float z,
                                        const float4* atoms, int numatoms)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    float x = gridspacing * (float)i, y = gridspacing * (float)j, energy = 0.0f;
    for (int n = 0; n < numatoms; n++) {
        float dx = x - atoms[n].x;
        float dy = y - atoms[n].y;
        float dz = z - atoms[n].z;
        energy += atoms[n].w / sqrtf(dx * dx + dy * dy + dz * dz);
    }
    energygrid[nx * j + i] = energy;
}

// Atoms by the tile in shared memory; what depends on z alone is there for all.
#define ATOM_TILE 256
extern "C" __global__ void cenergyTiled(float* energygrid, int nx, int ny, float gridspacing, float z,
                                        const float4* atoms, int numatoms)
{
    __shared__ float4 tile[ATOM_TILE];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    float x = gridspacing * i, y = gridspacing * j, energy = 0.0f;
    for (int base = 0; base < numatoms; base += ATOM_TILE) {
        int count = min(ATOM_TILE, numatoms - base);
        __syncthreads();
        if (t < count) {
            float4 a = atoms[base + t];
            float dz = z - a.z;
            tile[t] = make_float4(a.x, a.y, dz * dz, a.w);
        }
        __syncthreads();
        for (int n = 0; n < count; n++) {
            float dx = x - tile[n].x, dy = y - tile[n].y;
            energy += tile[n].w * rsqrtf(dx * dx + dy * dy + tile[n].z);
        }
    }
    if (i < nx && j < ny) energygrid[nx * j + i] = energy;
}

// Eight points of a row for each thread, a block's width apart.
constexpr int UNROLLX = 8;
extern "C" __global__ void __launch_bounds__(128)
    cenergyCoarse(float* energygrid, int nx, int ny, float gridspacing, float z, const float4* atoms, int numatoms)
{
    __shared__ float4 tile[128];
    const int t = threadIdx.y * 32 + threadIdx.x;
    const int xindex = blockIdx.x * 32 * UNROLLX + threadIdx.x, yindex = blockIdx.y * 4 + threadIdx.y;
    const float coory = gridspacing * yindex, coorx = gridspacing * xindex, apart = gridspacing * 32;
    float energyval[UNROLLX] = {0.0f};
    for (int base = 0; base < numatoms; base += 128) {
        __syncthreads();
        float4 a = base + t < numatoms ? atoms[base + t] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        tile[t] = make_float4(a.x, a.y, (z - a.z) * (z - a.z), a.w);
        __syncthreads();
#pragma unroll 2
        for (int n = 0; n < 128; n++) {
            const float4 atom = tile[n];
            const float dy = coory - atom.y, dyz2 = dy * dy + atom.z;
            float dx = coorx - atom.x;
#pragma unroll
            for (int k = 0; k < UNROLLX; k++) {
                energyval[k] += atom.w * rsqrtf(dx * dx + dyz2);
                dx += apart;
            }
        }
    }
    if (yindex >= ny) return;
#pragma unroll
    for (int k = 0; k < UNROLLX; k++)
        if (xindex + 32 * k < nx) energygrid[nx * yindex + xindex + 32 * k] = energyval[k];
}

// Q of a reconstruction of magnetic resonance: each voxel adds up the cosine and sine of every sample of k-space; the
// samples come in tiles, the next on its way while one is in use.
constexpr int K_TILE = 128;
extern "C" __global__ void __launch_bounds__(K_TILE)
    computeQ(const float* x, const float* y, const float* z, const float4* samples, int numK, float2* Q, int numX)
{
    __shared__ __align__(16) float4 ks[2][K_TILE];
    const int xIndex = blockIdx.x * K_TILE + threadIdx.x;
    float sX = 0, sY = 0, sZ = 0, Qr = 0, Qi = 0;
    if (xIndex < numX) {
        sX = x[xIndex];
        sY = y[xIndex];
        sZ = z[xIndex];
    }
    const int tiles = (numK + K_TILE - 1) / K_TILE;
    auto fetch = [&](int tile) {
        int k = tile * K_TILE + threadIdx.x;
        float4* slot = &ks[tile & 1][threadIdx.x];
        if (k < numK)
            __pipeline_memcpy_async(slot, samples + k, sizeof(float4));
        else
            *slot = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __pipeline_commit();
    };
    fetch(0);
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles) {
            fetch(tile + 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        for (int k = 0; k < K_TILE; k++) {
            float4 s = ks[tile & 1][k];
            float arg = 6.2831853f * (s.x * sX + s.y * sY + s.z * sZ), sn, cs;
            __sincosf(arg, &sn, &cs);
            Qr += s.w * cs;
            Qi += s.w * sn;
        }
        __syncthreads();
    }
    if (xIndex < numX) Q[xIndex] = make_float2(Qr, Qi);
}
