// Launches of 0.3 to 10 ms on an H200: sorts, histograms, hash tables, graphs, strings and digests
// (launches: launches.toml).

// Bitonic sort of 4,096 words in shared memory, 1,024 threads for each.
extern "C" __global__ void __launch_bounds__(1024) bitonic_4096(unsigned* keys)
{
    __shared__ unsigned s[4096];
    unsigned* mine = keys + (size_t)blockIdx.x * 4096;
    for (int i = threadIdx.x; i < 4096; i += 1024) s[i] = mine[i];
    for (int size = 2; size <= 4096; size *= 2)
        for (int stride = size / 2; stride; stride /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < 2048; t += 1024) {
                int low = 2 * t - (t & (stride - 1)), high = low + stride;
                unsigned a = s[low], b = s[high];
                bool up = (low & size) == 0;
                if ((a > b) == up) {
                    s[low] = b;
                    s[high] = a;
                }
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += 1024) mine[i] = s[i];
}

// Shell sort of rows that each thread has for itself, element i of row r at i * rows + r.
extern "C" __global__ void shell_sort_rows(int* data, int rows, int length)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    for (int gap = length / 2; gap; gap /= 2)
        for (int i = gap; i < length; i++) {
            int value = data[(size_t)i * rows + r], j = i;
            for (; j >= gap && data[(size_t)(j - gap) * rows + r] > value; j -= gap)
                data[(size_t)j * rows + r] = data[(size_t)(j - gap) * rows + r];
            data[(size_t)j * rows + r] = value;
        }
}

// Histogram of many bins by atomics in global memory.
extern "C" __global__ void histogram_global(const unsigned* __restrict__ in, unsigned* bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
}

// Histogram of bytes: 256 bins of each block in shared memory, then added.
extern "C" __global__ void histogram_bytes(const uint4* __restrict__ in, unsigned* bins, int n)
{
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 four = in[i];
        unsigned words[4] = {four.x, four.y, four.z, four.w};
        for (int k = 0; k < 4; k++)
            for (int b = 0; b < 32; b += 8) atomicAdd(&own[words[k] >> b & 255], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

// Inclusive scan of long rows, a block for each: pieces of 1,024 one after the other.
extern "C" __global__ void scan_rows(const int* __restrict__ in, int* __restrict__ out, int length)
{
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = 0;
    for (int start = 0; start < length; start += 1024) {
        size_t at = (size_t)blockIdx.x * length + start + threadIdx.x;
        int value = in[at];
        for (int step = 1; step < 32; step *= 2) {
            int other = __shfl_up_sync(~0u, value, step);
            if (lane >= step) value += other;
        }
        if (lane == 31) sums[warp] = value;
        __syncthreads();
        if (warp == 0) {
            int sum = sums[lane];
            for (int step = 1; step < 32; step *= 2) {
                int other = __shfl_up_sync(~0u, sum, step);
                if (lane >= step) sum += other;
            }
            sums[lane] = sum;
        }
        __syncthreads();
        out[at] = value + before + (warp ? sums[warp - 1] : 0);
        before += sums[31];
        __syncthreads();
    }
}

// Sum of floats: each warp adds what it has to one word by an atomic.
extern "C" __global__ void sum_one_word(const float* __restrict__ in, float* sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : 0;
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, value);
}

__device__ unsigned mixed(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// Keys into a hash table with open addressing; `slots` is a power of two, ~0 an empty slot.
extern "C" __global__ void hash_build(const unsigned* __restrict__ keys, unsigned* table, int n, unsigned slots)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], at = mixed(key) & (slots - 1);
    for (;;) {
        unsigned found = atomicCAS(&table[at], ~0u, key);
        if (found == ~0u || found == key) return;
        at = (at + 1) & (slots - 1);
    }
}

// One step of a breadth-first search: vertices of level `level` claim their neighbours.
extern "C" __global__ void bfs_step(const int* __restrict__ starts, const int* __restrict__ neighbours, int* levels,
                                    int* next, int level, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || levels[v] != level) return;
    for (int i = starts[v]; i < starts[v + 1]; i++) {
        int to = neighbours[i];
        if (levels[to] > level + 1 && atomicMin(&levels[to], level + 1) > level + 1) atomicAdd(next, 1);
    }
}

// Where a chain of pointers leads after so many hops.
extern "C" __global__ void pointer_chase(const int* __restrict__ next, int* __restrict__ out, int n, int hops)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int at = i;
    for (int hop = 0; hop < hops; hop++) at = next[at];
    out[i] = at;
}

// Position of each query among sorted keys.
extern "C" __global__ void lower_bound(const int* __restrict__ keys, const int* __restrict__ queries,
                                       int* __restrict__ out, int keys_count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int wanted = queries[i], low = 0, high = keys_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (keys[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    out[i] = low;
}

// How often a pattern of `length` letters stands in a text, with at most `most` letters that differ.
extern "C" __global__ void match_text(const unsigned char* __restrict__ text, const unsigned char* __restrict__ pattern,
                                      int* count, int n, int length, int most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - length) return;
    int off = 0;
    for (int k = 0; k < length && off <= most; k++) off += text[i + k] != pattern[k];
    if (off <= most) atomicAdd(count, 1);
}

// Edit distance of pairs of strings, a warp for each pair: diagonals of a band of 32 columns after another.
extern "C" __global__ void edit_distance(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b,
                                         unsigned short* border, int* __restrict__ out, int pairs, int length)
{
    int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (pair >= pairs) return;
    a += (size_t)pair * length, b += (size_t)pair * length, border += (size_t)pair * (length + 1);
    for (int i = lane; i <= length; i += 32) border[i] = i;
    __syncwarp();
    int result = 0;
    for (int column = 0; column < length; column += 32) {
        int letter = b[column + lane], up = column + lane + 1, corner = column + lane, left = 0;
        for (int step = 0; step < length + 31; step++) {
            int row = step - lane, from_left = __shfl_up_sync(~0u, left, 1);
            if (row >= 0 && row < length) {
                int beside = lane ? from_left : border[row + 1];
                int here = min(min(up, beside) + 1, corner + (a[row] != letter));
                corner = beside, up = here, left = here;
                if (lane == 31) border[row + 1] = here;
            }
            __syncwarp();
        }
        result = up;
    }
    if (lane == 31) out[pair] = result;
}

__device__ unsigned turned(unsigned x, int by) { return __funnelshift_r(x, x, by); }

__constant__ unsigned rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

// SHA-256 of one block of 64 bytes that holds the thread's number; the first word is kept.
extern "C" __global__ void sha256_numbers(unsigned* __restrict__ out, unsigned seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned w[16] = {(unsigned)i, seed, 0x80000000u};
    w[15] = 64;
    unsigned s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
#pragma unroll
    for (int t = 0; t < 64; t++) {
        if (t >= 16) {
            unsigned x = w[(t + 1) & 15], y = w[(t + 14) & 15];
            w[t & 15] += (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + w[(t + 9) & 15] +
                         (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
        }
        unsigned e = s[4], a = s[0];
        unsigned one = s[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + rounds[t] +
                       w[t & 15];
        unsigned two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + one;
        s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = one + two;
    }
    out[i] = s[0] + 0x6a09e667;
}

// CRC-32 of pieces by a table in shared memory, a thread for each piece.
extern "C" __global__ void crc32_pieces(const unsigned char* __restrict__ data, unsigned* __restrict__ out, int pieces,
                                        int length)
{
    __shared__ unsigned table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pieces) return;
    unsigned crc = ~0u;
    for (int k = 0; k < length; k++) crc = table[(crc ^ data[(size_t)i * length + k]) & 255] ^ crc >> 8;
    out[i] = ~crc;
}
