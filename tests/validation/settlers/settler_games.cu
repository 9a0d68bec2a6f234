// Settlers: games and pictures (launches: launches.toml).
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

// Reversi: the move after which the other side has the fewest answers, for many boards (64 bits a side).
typedef unsigned long long u64;
__device__ constexpr u64 NOT_LEFT = 0xfefefefefefefefeull, NOT_RIGHT = 0x7f7f7f7f7f7f7f7full;

template <int DIR>
__device__ u64 step(u64 b) {
    if (DIR == 0) return (b & NOT_RIGHT) << 1;
    if (DIR == 1) return (b & NOT_LEFT) >> 1;
    if (DIR == 2) return b << 8;
    if (DIR == 3) return b >> 8;
    if (DIR == 4) return (b & NOT_RIGHT) << 9;
    if (DIR == 5) return (b & NOT_LEFT) << 7;
    if (DIR == 6) return (b & NOT_RIGHT) >> 7;
    return (b & NOT_LEFT) >> 9;
}
template <int DIR>
__device__ u64 run_of(u64 from, u64 opp) {
    u64 run = step<DIR>(from) & opp;
    for (int k = 0; k < 5; k++) run |= step<DIR>(run) & opp;
    return run;
}
template <int DIR>
__device__ u64 moves_towards(u64 own, u64 opp) {
    return step<DIR>(run_of<DIR>(own, opp)) & ~(own | opp);
}
template <int DIR>
__device__ u64 flips_towards(u64 move, u64 own, u64 opp) {
    u64 run = run_of<DIR>(move, opp);
    return (step<DIR>(run) & own) ? run : 0;
}
__device__ u64 legal(u64 own, u64 opp) {
    return moves_towards<0>(own, opp) | moves_towards<1>(own, opp) | moves_towards<2>(own, opp) |
           moves_towards<3>(own, opp) | moves_towards<4>(own, opp) | moves_towards<5>(own, opp) |
           moves_towards<6>(own, opp) | moves_towards<7>(own, opp);
}
__device__ u64 flipped(u64 move, u64 own, u64 opp) {
    return flips_towards<0>(move, own, opp) | flips_towards<1>(move, own, opp) | flips_towards<2>(move, own, opp) |
           flips_towards<3>(move, own, opp) | flips_towards<4>(move, own, opp) | flips_towards<5>(move, own, opp) |
           flips_towards<6>(move, own, opp) | flips_towards<7>(move, own, opp);
}
extern "C" __global__ void reversi_reply(const u64* stones, const u64* colours, signed char* best, unsigned char* left,
                                         int boards) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= boards) return;
    u64 own = stones[tid] & colours[tid], opp = stones[tid] & ~colours[tid];
    int square = -1, fewest = 65;
    u64 moves = legal(own, opp);
    while (moves) {
        u64 move = moves & (0 - moves);
        moves ^= move;
        u64 turn = flipped(move, own, opp);
        int answers = __popcll(legal(opp ^ turn, own | move | turn));
        if (answers < fewest) {
            fewest = answers;
            square = __ffsll(move) - 1;
        }
    }
    best[tid] = square;
    left[tid] = fewest;
}

// Which leaves of a tree of boxes a unit touches: node k has the children 2k and 2k + 1, and boxes get smaller by the
// level.  Leaves are counted, their numbers mixed into a checksum.
struct Box {
    short2 centre;
    int reach;
};
extern "C" __global__ void query_boxes(const short2* centres, const short2* units, int levels, int reach, int* touched,
                                       unsigned* mixed, int n)
{
    int unit = blockIdx.x * blockDim.x + threadIdx.x;
    if (unit >= n)
        return;
    int stack[24];
    int top = 0, hits = 0;
    unsigned sum = 0;
    short2 me = units[unit];
    stack[top++] = 1;
    while (top > 0) {
        int node = stack[--top];
        int level = 31 - __clz(node);
        Box box = {centres[node], reach >> (level / 3)};
        bool overlap = abs(box.centre.x - me.x) <= box.reach && abs(box.centre.y - me.y) <= box.reach;
        if (!overlap)
            continue;
        if (level == levels) {
            hits++;
            sum = sum * 31u + node;
            continue;
        }
        stack[top++] = 2 * node + 1;
        stack[top++] = 2 * node;
    }
    touched[unit] = hits;
    mixed[unit] = sum;
}

// Contacts of capsules (two ends, the radius behind the first): the spheres around them first, and only pairs whose
// spheres meet wait in a queue for the distance of the segments.  32 capsules against 64 others a block.
struct Capsule {
    float3 a, b;
    float r;
};
__device__ float3 operator-(float3 p, float3 q) { return make_float3(p.x - q.x, p.y - q.y, p.z - q.z); }
__device__ float3 operator+(float3 p, float3 q) { return make_float3(p.x + q.x, p.y + q.y, p.z + q.z); }
__device__ float3 operator*(float s, float3 p) { return make_float3(s * p.x, s * p.y, s * p.z); }
__device__ float dot(float3 p, float3 q) { return p.x * q.x + p.y * q.y + p.z * q.z; }
__device__ float clamp01(float t) { return fminf(fmaxf(t, 0.0f), 1.0f); }

__device__ Capsule load_capsule(const float4* capsules, int k, float size)
{
    float4 p = capsules[2 * k], d = capsules[2 * k + 1];
    float3 a = make_float3(p.x, p.y, p.z);
    return {a, a + size * make_float3(d.x, d.y, d.z), 0.25f * size * p.w};
}
__device__ bool spheres_meet(const Capsule& p, const Capsule& q)
{
    float3 d = 0.5f * ((p.a + p.b) - (q.a + q.b)), u = p.b - p.a, v = q.b - q.a;
    float reach = 0.5f * (sqrtf(dot(u, u)) + sqrtf(dot(v, v))) + p.r + q.r;
    return dot(d, d) <= reach * reach;
}
__device__ float distance_squared(const Capsule& p, const Capsule& q)
{
    float3 u = p.b - p.a, v = q.b - q.a, w = p.a - q.a;
    float a = dot(u, u), b = dot(u, v), c = dot(v, v), d = dot(u, w), e = dot(v, w), den = a * c - b * b;
    float s = den > 1e-6f ? clamp01((b * e - c * d) / den) : 0.0f;
    float t = clamp01((b * s + e) / c);
    s = clamp01((b * t - d) / a);
    float3 apart = w + s * u - t * v;
    return dot(apart, apart);
}
extern "C" __global__ void __launch_bounds__(256)
    capsule_contacts(const float4* capsules, int* contacts, float size, int n)
{
    __shared__ Capsule mine[32], others[64];
    __shared__ unsigned short queue[2048];
    __shared__ int counts[8], found[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int t = block.thread_rank();
    int firstMine = 32 * blockIdx.x, firstOther = 64 * blockIdx.y;
    if (t < 32) {
        mine[t] = load_capsule(capsules, min(firstMine + t, n - 1), size);
        found[t] = 0;
    } else if (t < 96) {
        others[t - 32] = load_capsule(capsules, min(firstOther + t - 32, n - 1), size);
    }
    block.sync();
    int queued = 0;
    for (int candidate = t; candidate < 2048; candidate += 256) {
        int i = candidate / 64, j = candidate % 64;
        bool meet = firstMine + i < n && firstOther + j < n && firstMine + i != firstOther + j &&
                    spheres_meet(mine[i], others[j]);
        unsigned ballot = warp.ballot(meet);
        if (warp.thread_rank() == 0) counts[warp.meta_group_rank()] = __popc(ballot);
        block.sync();
        int at = queued;
        for (int k = 0; k < 8; k++) {
            if (k == warp.meta_group_rank() && meet)
                queue[at + __popc(ballot & ((1u << warp.thread_rank()) - 1))] = candidate;
            at += counts[k];
        }
        queued = at;
        block.sync();
    }
    for (int k = t; k < queued; k += 256) {
        int i = queue[k] / 64, j = queue[k] % 64;
        float r = mine[i].r + others[j].r;
        if (distance_squared(mine[i], others[j]) <= r * r) atomicAdd(&found[i], 1);
    }
    block.sync();
    if (t < 32 && found[t]) atomicAdd(&contacts[firstMine + t], found[t]);
}

// Motion between two pictures (Lucas and Kanade): least squares over the 25 pixels around.
#define WIN 2
#define TX 32
#define TY 8
extern "C" __global__ void lucas_kanade(const float* prev, const float* next, float2* flow, int width, int height)
{
    __shared__ float I0[TY + 2 * WIN + 2][TX + 2 * WIN + 2], I1[TY + 2 * WIN][TX + 2 * WIN];
    const int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY;
    auto inside = [=](int x, int y) { return min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1); };
    for (int y = threadIdx.y; y < TY + 2 * WIN + 2; y += TY)
        for (int x = threadIdx.x; x < TX + 2 * WIN + 2; x += TX)
            I0[y][x] = prev[inside(x0 + x - WIN - 1, y0 + y - WIN - 1)];
    for (int y = threadIdx.y; y < TY + 2 * WIN; y += TY)
        for (int x = threadIdx.x; x < TX + 2 * WIN; x += TX)
            I1[y][x] = next[inside(x0 + x - WIN, y0 + y - WIN)];
    __syncthreads();
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= width || y >= height) return;
    float xx = 0.f, xy = 0.f, yy = 0.f, xt = 0.f, yt = 0.f;
#pragma unroll
    for (int dy = 0; dy <= 2 * WIN; ++dy)
#pragma unroll
        for (int dx = 0; dx <= 2 * WIN; ++dx) {
            const int r = threadIdx.y + dy, c = threadIdx.x + dx;
            const float gx = 0.5f * (I0[r + 1][c + 2] - I0[r + 1][c]), gy = 0.5f * (I0[r + 2][c + 1] - I0[r][c + 1]);
            const float gt = I1[r][c] - I0[r + 1][c + 1];
            xx += gx * gx;
            xy += gx * gy;
            yy += gy * gy;
            xt += gx * gt;
            yt += gy * gt;
        }
    const float det = xx * yy - xy * xy;
    float2 v = make_float2(0.f, 0.f);
    if (det > 1e-3f) v = make_float2((xy * yt - yy * xt) / det, (xy * xt - xx * yt) / det);
    flow[y * width + x] = v;
}

// Where a stamp of 8 x 8 bytes resembles a picture most: the largest sum of products of each block's 128 x 8 places,
// four bytes at once; four places a thread.
extern "C" __global__ void __launch_bounds__(256)
    match_stamp(const unsigned* picture, const unsigned* stamp, u64* best, int words, int height)
{
    __shared__ u64 part[8];
    const int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
    unsigned score[4] = {0, 0, 0, 0};
    bool there = px + 2 < words && py + 7 < height;
    if (there) {
#pragma unroll
        for (int r = 0; r < 8; r++) {
            const unsigned* row = picture + (size_t)(py + r) * words + px;
            unsigned a = row[0], b = row[1], c = row[2], left = __ldg(stamp + 2 * r), right = __ldg(stamp + 2 * r + 1);
#pragma unroll
            for (int k = 0; k < 4; k++)
                score[k] = __dp4a(__funnelshift_r(a, b, 8 * k), left,
                                  __dp4a(__funnelshift_r(b, c, 8 * k), right, score[k]));
        }
    }
    u64 most = 0;
    for (int k = 0; k < 4; k++) {
        u64 key = (u64)score[k] << 32 | (unsigned)~(py * 4 * words + 4 * px + k);
        if (there && key > most) most = key;
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        u64 other = __shfl_down_sync(0xffffffff, most, offset);
        if (other > most) most = other;
    }
    if (threadIdx.x == 0) part[threadIdx.y] = most;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        for (int k = 1; k < 8; k++)
            if (part[k] > most) most = part[k];
        best[blockIdx.y * gridDim.x + blockIdx.x] = most;
    }
}
