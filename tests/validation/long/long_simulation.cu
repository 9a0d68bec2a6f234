// Launches of 0.3 to 10 ms on an H200: particles, random paths, attention, rays and searches
// (launches: launches.toml).

// Gravity of all bodies on each body, tiles in shared memory.
extern "C" __global__ void nbody_tiles(const float4* __restrict__ bodies, float4* __restrict__ forces, int n,
                                       float softening)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 own = bodies[min(i, n - 1)];
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += 256) {
        __syncthreads();
        tile[threadIdx.x] = start + threadIdx.x < n ? bodies[start + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 256; k++) {
            float4 other = tile[k];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = other.w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
    }
    if (i < n) forces[i] = make_float4(ax, ay, az, 0);
}

// Lennard-Jones forces over a list of neighbours, in double precision.
extern "C" __global__ void lennard_jones(const double4* __restrict__ atoms, const int* __restrict__ list,
                                         double4* __restrict__ forces, int n, int neighbours)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double4 own = atoms[i];
    double fx = 0, fy = 0, fz = 0, energy = 0;
    for (int k = 0; k < neighbours; k++) {
        double4 other = atoms[list[(size_t)k * n + i]];
        double dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
        double square = dx * dx + dy * dy + dz * dz + 1e-3;
        if (square < 0.5) {
            double inverse = 1 / square, six = inverse * inverse * inverse;
            double force = (12 * six * six - 6 * six) * inverse;
            fx += force * dx;
            fy += force * dy;
            fz += force * dz;
            energy += six * six - six;
        }
    }
    forces[i] = make_double4(fx, fy, fz, energy);
}

// Charges of particles to the four nearest points of a grid, by atomics.
extern "C" __global__ void deposit_charge(const float2* __restrict__ places, float* grid, int n, int side)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = (places[i].x + 0.5f) * (side - 1), y = (places[i].y + 0.5f) * (side - 1);
    int column = min((int)x, side - 2), row = min((int)y, side - 2);
    float right = x - column, down = y - row;
    float* corner = grid + (size_t)row * side + column;
    atomicAdd(corner, (1 - right) * (1 - down));
    atomicAdd(corner + 1, right * (1 - down));
    atomicAdd(corner + side, (1 - right) * down);
    atomicAdd(corner + side + 1, right * down);
}

// Particles in the field of a grid: interpolate, then leap for `steps` steps.
extern "C" __global__ void push_particles(float4* particles, const float2* __restrict__ field, int n, int side,
                                          int steps, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = particles[i];
    for (int step = 0; step < steps; step++) {
        float x = (p.x - floorf(p.x)) * (side - 1), y = (p.y - floorf(p.y)) * (side - 1);
        int column = min((int)x, side - 2), row = min((int)y, side - 2);
        float right = x - column, down = y - row;
        const float2* corner = field + row * side + column;
        float2 a = corner[0], b = corner[1], c = corner[side], d = corner[side + 1];
        p.z += dt * ((a.x * (1 - right) + b.x * right) * (1 - down) + (c.x * (1 - right) + d.x * right) * down);
        p.w += dt * ((a.y * (1 - right) + b.y * right) * (1 - down) + (c.y * (1 - right) + d.y * right) * down);
        p.x += dt * p.z;
        p.y += dt * p.w;
    }
    particles[i] = p;
}

__device__ unsigned next_random(unsigned& state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__device__ float uniform(unsigned& state) { return ((next_random(state) >> 8) + 0.5f) * 0x1p-24f; }

// Asian options: average of a path of `steps` prices, one path a thread.
extern "C" __global__ void asian_paths(float* __restrict__ out, int n, int steps, float drift, float volatility)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = i * 2654435761u + 12345;
    float log_price = 0, sum = 0;
    for (int step = 0; step < steps; step += 2) {
        float radius = sqrtf(-2 * __logf(uniform(state))), sine, cosine;
        __sincosf(6.2831853f * uniform(state), &sine, &cosine);
        log_price += drift + volatility * radius * cosine;
        sum += __expf(log_price);
        log_price += drift + volatility * radius * sine;
        sum += __expf(log_price);
    }
    out[i] = fmaxf(sum / steps - 1, 0.f);
}

// A chain of random steps over few, long walks: most of the GPU is idle.
extern "C" __global__ void metropolis_chains(float* __restrict__ out, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = i * 747796405u + 1;
    float x = 0, energy = 0, sum = 0;
    for (int step = 0; step < steps; step++) {
        float y = x + uniform(state) - 0.5f, other = y * y * (y * y - 2);
        if (uniform(state) < __expf(energy - other)) {
            x = y;
            energy = other;
        }
        sum += x * x;
    }
    out[i] = sum / steps;
}

// Ising model: each block sweeps its 64 x 64 spins in shared memory, black and white in turn.
extern "C" __global__ void ising_tiles(signed char* spins, int w, int sweeps, float beta)
{
    __shared__ signed char s[64][64];
    int tx = threadIdx.x, ty = threadIdx.y;
    unsigned state = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + ty * 32 + tx + 1;
    size_t corner = (size_t)blockIdx.y * 64 * w + blockIdx.x * 64;
    for (int y = ty; y < 64; y += 8)
        for (int x = tx; x < 64; x += 32) s[y][x] = spins[corner + (size_t)y * w + x] & 1 ? 1 : -1;
    for (int half = 0; half < 2 * sweeps; half++) {
        __syncthreads();
        for (int y = ty; y < 64; y += 8) {
            int x = 2 * tx + ((y + half) & 1);
            int around = s[y][x + 1 & 63] + s[y][x + 63 & 63] + s[y + 1 & 63][x] + s[y + 63 & 63][x];
            float cost = 2 * beta * s[y][x] * around;
            if (uniform(state) < __expf(-cost)) s[y][x] = -s[y][x];
        }
    }
    __syncthreads();
    for (int y = ty; y < 64; y += 8)
        for (int x = tx; x < 64; x += 32) spins[corner + (size_t)y * w + x] = s[y][x];
}

// Attention with a softmax that goes along: a query of 64 numbers a thread, keys and values in tiles of 32.
extern "C" __global__ void __launch_bounds__(128) attention_online(const float* __restrict__ queries,
                                                                   const float* __restrict__ keys,
                                                                   const float* __restrict__ values,
                                                                   float* __restrict__ out, int length)
{
    __shared__ float4 k[32][16], v[32][16];
    size_t head = (size_t)blockIdx.y * length, row = head + blockIdx.x * 128 + threadIdx.x;
    float4 q[16], sum[16];
    for (int i = 0; i < 16; i++) {
        q[i] = reinterpret_cast<const float4*>(queries)[row * 16 + i];
        sum[i] = make_float4(0, 0, 0, 0);
    }
    float highest = -1e30f, weights = 0;
    for (int start = 0; start < length; start += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 512; i += 128) {
            k[i / 16][i % 16] = reinterpret_cast<const float4*>(keys)[(head + start) * 16 + i];
            v[i / 16][i % 16] = reinterpret_cast<const float4*>(values)[(head + start) * 16 + i];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float score = 0;
#pragma unroll
            for (int i = 0; i < 16; i++) {
                float4 key = k[j][i];
                score += q[i].x * key.x + q[i].y * key.y + q[i].z * key.z + q[i].w * key.w;
            }
            score *= 0.125f;
            if (score > highest) {
                float less = __expf(highest - score);
                highest = score;
                weights *= less;
#pragma unroll
                for (int i = 0; i < 16; i++) sum[i].x *= less, sum[i].y *= less, sum[i].z *= less, sum[i].w *= less;
            }
            float weight = __expf(score - highest);
            weights += weight;
#pragma unroll
            for (int i = 0; i < 16; i++) {
                float4 value = v[j][i];
                sum[i].x += weight * value.x, sum[i].y += weight * value.y;
                sum[i].z += weight * value.z, sum[i].w += weight * value.w;
            }
        }
    }
    for (int i = 0; i < 16; i++)
        reinterpret_cast<float4*>(out)[row * 16 + i] =
            make_float4(sum[i].x / weights, sum[i].y / weights, sum[i].z / weights, sum[i].w / weights);
}

// Softmax of long rows, a block for each: three passes over the row.
extern "C" __global__ void softmax_long(const float* __restrict__ in, float* __restrict__ out, int length)
{
    __shared__ float part[32];
    const float* row = in + (size_t)blockIdx.x * length;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float found[2];
    for (int pass = 0; pass < 2; pass++) {
        float own = pass ? 0 : -1e30f;
        for (int i = threadIdx.x; i < length; i += blockDim.x)
            own = pass ? own + __expf(row[i] - found[0]) : fmaxf(own, row[i]);
        for (int step = 16; step; step /= 2) {
            float other = __shfl_xor_sync(~0u, own, step);
            own = pass ? own + other : fmaxf(own, other);
        }
        if (lane == 0) part[warp] = own;
        __syncthreads();
        found[pass] = part[0];
        for (int i = 1; i < warps; i++) found[pass] = pass ? found[pass] + part[i] : fmaxf(found[pass], part[i]);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        out[(size_t)blockIdx.x * length + i] = __expf(row[i] - found[0]) / found[1];
}

// The nearest of `count` centres for each point of eight numbers.
extern "C" __global__ void nearest_centre(const float4* __restrict__ points, const float4* __restrict__ centres,
                                          int* __restrict__ out, int n, int count)
{
    extern __shared__ float4 kept[];
    for (int i = threadIdx.x; i < 2 * count; i += blockDim.x) kept[i] = centres[i];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = points[2 * (size_t)i], b = points[2 * (size_t)i + 1];
    float nearest = 1e30f;
    int found = 0;
    for (int c = 0; c < count; c++) {
        float4 p = kept[2 * c], q = kept[2 * c + 1];
        float d = (a.x - p.x) * (a.x - p.x) + (a.y - p.y) * (a.y - p.y) + (a.z - p.z) * (a.z - p.z) +
                  (a.w - p.w) * (a.w - p.w) + (b.x - q.x) * (b.x - q.x) + (b.y - q.y) * (b.y - q.y) +
                  (b.z - q.z) * (b.z - q.z) + (b.w - q.w) * (b.w - q.w);
        if (d < nearest) {
            nearest = d;
            found = c;
        }
    }
    out[i] = found;
}

// Julia set in double precision: neighbours leave the loop at different times.
extern "C" __global__ void julia_double(unsigned char* __restrict__ out, int w, int h, double cx, double cy, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    double x = 3.0 * px / w - 1.5, y = 3.0 * py / h - 1.5;
    int steps = 0;
    while (steps < most && x * x + y * y < 4) {
        double wide = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = wide;
        steps++;
    }
    out[py * w + px] = steps;
}

// Rays to a field of spheres by steps of the distance to the nearest.
extern "C" __global__ void march_spheres(const float4* __restrict__ spheres, float* __restrict__ out, int w, int h,
                                         int count, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float dx = (float)px / w - 0.5f, dy = (float)py / h - 0.5f, inverse = rsqrtf(dx * dx + dy * dy + 1), along = 0;
    for (int step = 0; step < most; step++) {
        float x = dx * inverse * along, y = dy * inverse * along, z = inverse * along - 1, near = 1e30f;
        for (int s = 0; s < count; s++) {
            float4 at = spheres[s];
            float ox = x - at.x, oy = y - at.y, oz = z - at.z;
            near = fminf(near, sqrtf(ox * ox + oy * oy + oz * oz) - 0.05f);
        }
        if (near < 1e-3f || along > 3) break;
        along += near;
    }
    out[py * w + px] = along;
}

// Queens: each thread counts the ways to fill a board whose first three rows its number gives.
extern "C" __global__ void count_queens(int* __restrict__ out, int side)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= side * side * side) return;
    unsigned all = (1u << side) - 1, columns[16], left[16], right[16], open[16];
    columns[0] = left[0] = right[0] = 0;
    int ways = 0, row = 0, choice = i;
    bool possible = true;
    for (; row < 3; row++, choice /= side) {
        unsigned bit = 1u << choice % side;
        possible = possible && !((columns[row] | left[row] | right[row]) & bit);
        columns[row + 1] = columns[row] | bit;
        left[row + 1] = (left[row] | bit) << 1 & all;
        right[row + 1] = (right[row] | bit) >> 1;
    }
    open[3] = possible ? all & ~(columns[3] | left[3] | right[3]) : 0;
    while (row >= 3) {
        if (!open[row]) {
            row--;
            continue;
        }
        unsigned bit = open[row] & -open[row];
        open[row] ^= bit;
        if (row == side - 1) {
            ways++;
            continue;
        }
        columns[row + 1] = columns[row] | bit;
        left[row + 1] = (left[row] | bit) << 1 & all;
        right[row + 1] = (right[row] | bit) >> 1;
        row++;
        open[row] = all & ~(columns[row] | left[row] | right[row]);
    }
    out[i] = ways;
}

// Steps of 3 n + 1 until 1, by 64-bit integers.
extern "C" __global__ void collatz_steps(int* __restrict__ out, long long first, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long at = first + i;
    int steps = 0;
    for (; at != 1; steps++) at = at & 1 ? 3 * at + 1 : at / 2;
    out[i] = steps;
}

// Powers modulo a prime of 31 bits with 64-bit remainders.
extern "C" __global__ void powers_modulo(const unsigned* __restrict__ bases, unsigned* __restrict__ out, int n,
                                         unsigned exponent, unsigned modulus)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long base = bases[i] % modulus, result = 1;
    for (unsigned e = exponent; e; e /= 2) {
        if (e & 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    out[i] = result;
}
