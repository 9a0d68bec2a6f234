// Settlers: kernels of large machines (launches: launches.toml).
#include <cstdint>

// A link of a lattice (a complex matrix of 3 x 3) times the colours of its site.  Structures, a site a thread.
template <typename real>
struct complex_t {
    real re, im;
    __device__ complex_t& operator+=(const complex_t& o) { re += o.re; im += o.im; return *this; }
};
template <typename real>
__device__ complex_t<real> operator*(const complex_t<real>& a, const complex_t<real>& b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
using cfloat = complex_t<float>;
struct su3_vector { cfloat c[3]; };
struct su3_matrix { cfloat e[3][3]; };

extern "C" __global__ void su3_mult_aos(const su3_matrix* __restrict__ links, const su3_vector* __restrict__ src,
                                        su3_vector* __restrict__ dst, size_t sites)
{
    size_t s = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= sites) return;
    su3_vector out;
    for (int i = 0; i < 3; i++) {
        cfloat sum = {0.0f, 0.0f};
        for (int j = 0; j < 3; j++) sum += links[s].e[i][j] * src[s].c[j];
        out.c[i] = sum;
    }
    dst[s] = out;
}

// Each of the nine and the three complex numbers in an array of its own.
extern "C" __global__ void su3_mult_soa(const float2* __restrict__ links, const float2* __restrict__ src,
                                        float2* __restrict__ dst, size_t sites)
{
    size_t s = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= sites) return;
    float2 v[3];
#pragma unroll
    for (int j = 0; j < 3; j++) v[j] = src[j * sites + s];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        float re = 0.0f, im = 0.0f;
#pragma unroll
        for (int j = 0; j < 3; j++) {
            float2 u = links[(3 * i + j) * sites + s];
            re += u.x * v[j].x - u.y * v[j].y;
            im += u.x * v[j].y + u.y * v[j].x;
        }
        dst[i * sites + s] = make_float2(re, im);
    }
}

// Structures again; a block brings 128 sites through shared memory, three threads a site.
extern "C" __global__ void __launch_bounds__(384)
    su3_mult_staged(const float2* links, const float2* src, float2* dst, size_t sites)
{
    __shared__ float2 u[128 * 9], v[128 * 3];
    size_t first = (size_t)blockIdx.x * 128;
    int here = (int)min((size_t)128, sites - first), t = threadIdx.x;
    for (int k = t; k < 9 * here; k += 384) u[k] = links[9 * first + k];
    if (t < 3 * here) v[t] = src[3 * first + t];
    __syncthreads();
    if (t >= 3 * here) return;
    const float2 *row = u + 3 * t, *in = v + t / 3 * 3;
    float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int j = 0; j < 3; j++) {
        sum.x += row[j].x * in[j].x - row[j].y * in[j].y;
        sum.y += row[j].x * in[j].y + row[j].y * in[j].x;
    }
    dst[3 * first + t] = sum;
}

// The stiffness of spectral elements of 8 x 8 x 8 points: derivatives along each direction, factors of the shape,
// the same backwards.  A point a thread.
constexpr int N1 = 8, POINTS = N1 * N1 * N1;
extern "C" __global__ void __launch_bounds__(POINTS)
    sem_ax(const double* __restrict__ u, const double* __restrict__ D, const double* __restrict__ geo,
           double* __restrict__ w, int elements)
{
    __shared__ double s_D[N1][N1], s_u[N1][N1][N1], s_r[N1][N1][N1], s_s[N1][N1][N1];
    const int i = threadIdx.x, j = threadIdx.y, k = threadIdx.z, e = blockIdx.x;
    const int point = (k * N1 + j) * N1 + i;
    if (k == 0) s_D[j][i] = D[j * N1 + i];
    s_u[k][j][i] = u[(size_t)e * POINTS + point];
    __syncthreads();
    double ur = 0, us = 0, ut = 0;
#pragma unroll
    for (int m = 0; m < N1; m++) {
        ur += s_D[i][m] * s_u[k][j][m];
        us += s_D[j][m] * s_u[k][m][i];
        ut += s_D[k][m] * s_u[m][j][i];
    }
    const double* g = geo + (size_t)e * 3 * POINTS + point;
    ur *= g[0];
    us *= g[POINTS];
    ut *= g[2 * POINTS];
    __syncthreads();
    s_u[k][j][i] = ut;
    s_r[k][j][i] = ur;
    s_s[k][j][i] = us;
    __syncthreads();
    double sum = 0;
#pragma unroll
    for (int m = 0; m < N1; m++)
        sum += s_D[m][i] * s_r[k][j][m] + s_D[m][j] * s_s[k][m][i] + s_D[m][k] * s_u[m][j][i];
    w[(size_t)e * POINTS + point] = sum;
}

// Cross sections of neutrons: a random energy and material, a search in the grid of energies, and five sections of each
// nuclide between two of its points, added up by density.
struct NuclidePoint {
    float total, elastic, absorption, fission, production, energy;
};
__constant__ int nuclides_of[12] = {34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9};
__constant__ float share_of[12] = {0.140f, 0.052f, 0.275f, 0.134f, 0.154f, 0.064f,
                                   0.066f, 0.055f, 0.008f, 0.015f, 0.025f, 0.012f};

__device__ double lcg_double(uint64_t* seed)
{
    const uint64_t m = 9223372036854775808ULL;  // 2^63
    *seed = (2806196910506780709ULL * *seed + 1ULL) % m;
    return (double)*seed / (double)m;
}
__device__ int pick_material(uint64_t* seed)
{
    double roll = lcg_double(seed), running = 0;
    for (int m = 0; m < 12; m++) {
        running += share_of[m];
        if (roll < running) return m;
    }
    return 0;
}
__device__ long grid_search(long n, double quarry, const double* A)
{
    long low = 0, high = n - 1, mid;
    while (high - low > 1) {
        mid = low + (high - low) / 2;
        if (A[mid] > quarry)
            high = mid;
        else
            low = mid;
    }
    return low;
}
extern "C" __global__ void xs_lookup(const double* egrid, const int* index_grid, const NuclidePoint* grids,
                                     const float* densities, float* macro, long gridpoints, int nuclides,
                                     int points, int lookups)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lookups) return;
    uint64_t seed = 1070 + 7919ULL * i;
    for (int k = 0; k < 4; k++) lcg_double(&seed);
    double energy = lcg_double(&seed) * egrid[gridpoints - 1];
    int mat = pick_material(&seed);
    long at = grid_search(gridpoints, energy, egrid);
    float f = (float)((egrid[at + 1] - energy) / (egrid[at + 1] - egrid[at]));
    float xs[5] = {0};
    for (int j = 0; j < nuclides_of[mat]; j++) {
        int nuc = (7 * mat + 3 * j) % nuclides;
        float conc = densities[mat * 34 + j];
        const NuclidePoint* low = &grids[(long)nuc * points + index_grid[at * nuclides + nuc]];
        const NuclidePoint* high = low + 1;
        xs[0] += conc * (high->total - f * (high->total - low->total));
        xs[1] += conc * (high->elastic - f * (high->elastic - low->elastic));
        xs[2] += conc * (high->absorption - f * (high->absorption - low->absorption));
        xs[3] += conc * (high->fission - f * (high->fission - low->fission));
        xs[4] += conc * (high->production - f * (high->production - low->production));
    }
    for (int k = 0; k < 5; k++) macro[5 * i + k] = xs[k];
}

// To the coarser grid of a multigrid solver: what is left of f - A u (five points), in shared memory, averaged with
// weights 1 2 1.  The fine grid has 2 m + 1 points a side, of which the outermost are the border.
#define CB 16
extern "C" __global__ void restrict_residual(const double* u, const double* f, double* coarse, double ih2, int m)
{
    __shared__ double res[2 * CB + 1][2 * CB + 2];
    const int side = 2 * m + 1, ox = 2 * CB * blockIdx.x + 1, oy = 2 * CB * blockIdx.y + 1;
    for (int y = threadIdx.y; y < 2 * CB + 1; y += CB)
        for (int x = threadIdx.x; x < 2 * CB + 1; x += CB) {
            const int gx = ox + x, gy = oy + y;
            double r = 0.0;
            if (gx < side - 1 && gy < side - 1) {
                const size_t p = (size_t)gy * side + gx;
                r = f[p] - ih2 * (4.0 * u[p] - u[p - 1] - u[p + 1] - u[p - side] - u[p + side]);
            }
            res[y][x] = r;
        }
    __syncthreads();
    const int cx = blockIdx.x * CB + threadIdx.x, cy = blockIdx.y * CB + threadIdx.y;
    if (cx >= m - 1 || cy >= m - 1) return;
    const int x = 2 * threadIdx.x + 1, y = 2 * threadIdx.y + 1;
    coarse[(size_t)cy * (m - 1) + cx] =
        0.0625 * (res[y - 1][x - 1] + res[y - 1][x + 1] + res[y + 1][x - 1] + res[y + 1][x + 1]) +
        0.125 * (res[y - 1][x] + res[y + 1][x] + res[y][x - 1] + res[y][x + 1]) + 0.25 * res[y][x];
}
