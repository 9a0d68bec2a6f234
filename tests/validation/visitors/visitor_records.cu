// Visitors: tables, keys, bits, series and graphs (launches: launches.toml).
using uint = unsigned;
using uchar = unsigned char;
using ushort = unsigned short;
using ull = unsigned long long;

// Pieces of 256 keys are put in order.  Each key counts those that stand before it.
extern "C" __global__ void order_ranks(const uint* x, uint* y) {
  __shared__ uint s[256];
  int t = threadIdx.x, rank = 0;
  uint mine = s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 0; k < 256; ++k) rank += s[k] < mine || (s[k] == mine && k < t);
  y[blockIdx.x * 256 + rank] = mine;
}
// A bitonic net in shared memory, a barrier after each step.
extern "C" __global__ void order_barriers(const uint* x, uint* y) {
  __shared__ uint s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int size = 2; size <= 256; size *= 2)
    for (int step = size / 2; step; step /= 2) {
      int other = t ^ step;
      if (other > t) {
        uint a = s[t], b = s[other];
        if ((a > b) == ((t & size) == 0)) { s[t] = b; s[other] = a; }
      }
      __syncthreads();
    }
  y[blockIdx.x * 256 + t] = s[t];
}
// Steps within a warp by shuffles.
extern "C" __global__ void order_lanes(const uint* x, uint* y) {
  __shared__ uint s[256];
  int t = threadIdx.x;
  uint v = x[blockIdx.x * 256 + t];
#pragma unroll
  for (int size = 2; size <= 256; size *= 2)
#pragma unroll
    for (int step = size / 2; step; step /= 2) {
      uint w;
      if (step >= 32) {
        __syncthreads();
        s[t] = v;
        __syncthreads();
        w = s[t ^ step];
      } else {
        w = __shfl_xor_sync(~0u, v, step);
      }
      v = ((t & step) == 0) == ((t & size) == 0) ? min(v, w) : max(v, w);
    }
  y[blockIdx.x * 256 + t] = v;
}
// A piece a warp, eight keys a lane: no shared memory and no barrier.
extern "C" __global__ void order_eights(const uint4* x, uint4* y) {
  int lane = threadIdx.x & 31, at = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  uint4 a = x[at], b = x[at + 1];
  uint v[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
  for (int size = 2; size <= 256; size *= 2)
#pragma unroll
    for (int step = size / 2; step; step /= 2) {
      if (step >= 8) {
        bool low = ((lane & step / 8) == 0) == ((8 * lane & size) == 0);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          uint w = __shfl_xor_sync(~0u, v[k], step / 8);
          v[k] = low ? min(v[k], w) : max(v[k], w);
        }
      } else {
#pragma unroll
        for (int k = 0; k < 8; ++k)
          if ((k & step) == 0) {
            uint low = min(v[k], v[k ^ step]), high = max(v[k], v[k ^ step]);
            bool up = ((8 * lane + k) & size) == 0;
            v[k] = up ? low : high;
            v[k ^ step] = up ? high : low;
          }
      }
    }
  y[at] = make_uint4(v[0], v[1], v[2], v[3]);
  y[at + 1] = make_uint4(v[4], v[5], v[6], v[7]);
}

// What comes in from sales of one year, in small numbers and at a middling discount: the sum of price by discount.
__device__ bool counts(int day, int discount, int quantity) {
  return day >= 730 && day < 1095 && discount >= 5 && discount <= 7 && quantity < 24;
}
__device__ ull over_warp(ull v) {
#pragma unroll
  for (int k = 16; k; k /= 2) v += __shfl_down_sync(~0u, v, k);
  return v;
}
// Each sale that counts by an atomic.
extern "C" __global__ void revenue_each(const ushort* day, const uchar* discount, const uchar* quantity, const int* price,
                                        ull* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && counts(day[i], discount[i], quantity[i])) atomicAdd(sum, (ull)price[i] * discount[i]);
}
// Each warp.
extern "C" __global__ void revenue_warp(const ushort* day, const uchar* discount, const uchar* quantity, const int* price,
                                        ull* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  ull mine = 0;
  if (i < n && counts(day[i], discount[i], quantity[i])) mine = (ull)price[i] * discount[i];
  mine = over_warp(mine);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
// As many blocks as stay, each by one.
extern "C" __global__ void revenue_block(const ushort* day, const uchar* discount, const uchar* quantity, const int* price,
                                         ull* sum, int n) {
  __shared__ ull s[8];
  ull mine = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    if (counts(day[i], discount[i], quantity[i])) mine += (ull)price[i] * discount[i];
  mine = over_warp(mine);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) mine += s[k];
    atomicAdd(sum, mine);
  }
}
// Four sales at once, all columns read without asking.
extern "C" __global__ void revenue_fours(const ushort4* day, const uchar4* discount, const uchar4* quantity,
                                         const int4* price, ull* sum, int n) {
  __shared__ ull s[8];
  ull mine = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {
    ushort4 d = day[i];
    uchar4 c = discount[i], q = quantity[i];
    int4 p = price[i];
    mine += counts(d.x, c.x, q.x) ? (ull)p.x * c.x : 0;
    mine += counts(d.y, c.y, q.y) ? (ull)p.y * c.y : 0;
    mine += counts(d.z, c.z, q.z) ? (ull)p.z * c.z : 0;
    mine += counts(d.w, c.w, q.w) ? (ull)p.w * c.w : 0;
  }
  mine = over_warp(mine);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) mine += s[k];
    atomicAdd(sum, mine);
  }
}

// The nearest of m descriptions of 256 bits, by how many bits differ, the first of equals; number and bits.
__device__ int apart(uint4 a, uint4 b, uint4 c, uint4 d) {
  return __popc(a.x ^ c.x) + __popc(a.y ^ c.y) + __popc(a.z ^ c.z) + __popc(a.w ^ c.w) + __popc(b.x ^ d.x) +
         __popc(b.y ^ d.y) + __popc(b.z ^ d.z) + __popc(b.w ^ d.w);
}
extern "C" __global__ void bits_apart_plain(const uint4* q, const uint4* known, int2* y, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 a = q[2 * i], b = q[2 * i + 1];
  int best = 257, who = 0;
  for (int k = 0; k < m; ++k) {
    int d = apart(a, b, known[2 * k], known[2 * k + 1]);
    if (d < best) { best = d; who = k; }
  }
  y[i] = make_int2(who, best);
}
// 128 of them at a time in shared memory.
extern "C" __global__ void bits_apart_tile(const uint4* q, const uint4* known, int2* y, int m) {
  __shared__ uint4 s[256];
  int i = blockIdx.x * 128 + threadIdx.x;
  uint4 a = q[2 * i], b = q[2 * i + 1];
  int best = 257, who = 0;
  for (int start = 0; start < m; start += 128) {
    s[threadIdx.x] = known[2 * start + threadIdx.x];
    s[threadIdx.x + 128] = known[2 * start + threadIdx.x + 128];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 128; ++k) {
      int d = apart(a, b, s[2 * k], s[2 * k + 1]);
      if (d < best) { best = d; who = start + k; }
    }
    __syncthreads();
  }
  y[i] = make_int2(who, best);
}
// Four questions a thread.
extern "C" __global__ void bits_apart_fours(const uint4* q, const uint4* known, int2* y, int m) {
  __shared__ uint4 s[256];
  int i = blockIdx.x * 512 + threadIdx.x, best[4], who[4];
  uint4 a[4], b[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    a[r] = q[2 * (i + 128 * r)];
    b[r] = q[2 * (i + 128 * r) + 1];
    best[r] = 257;
    who[r] = 0;
  }
  for (int start = 0; start < m; start += 128) {
    s[threadIdx.x] = known[2 * start + threadIdx.x];
    s[threadIdx.x + 128] = known[2 * start + threadIdx.x + 128];
    __syncthreads();
#pragma unroll 2
    for (int k = 0; k < 128; ++k) {
      uint4 c = s[2 * k], d = s[2 * k + 1];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        int bits = apart(a[r], b[r], c, d);
        if (bits < best[r]) { best[r] = bits; who[r] = start + k; }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) y[i + 128 * r] = make_int2(who[r], best[r]);
}

// Rows look for their key in a hash table with chains (-1 or less ends one), sixteen steps at most.
extern "C" __global__ void chain_probe(const uint* keys, const int* heads, const uint* built, const int* next, int* found,
                                       int buckets, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint key = keys[i];
  int at = heads[(key * 2654435761u) >> 7 & (buckets - 1)], hit = -1;
  for (int step = 0; step < 16 && at >= 0; ++step) {
    if (built[at] == key) { hit = at; break; }
    at = next[at];
  }
  found[i] = hit;
}

// Codes of 16 bits become words of 16 letters from a dictionary; where a bit says that there is none, zeros.
extern "C" __global__ void decode_words(const ushort* codes, const uint* there, const uint4* dictionary, uint4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 word = make_uint4(0, 0, 0, 0);
  if (there[i / 32] >> i % 32 & 1) word = dictionary[codes[i]];
  y[i] = word;
}

// Runs become values: 256 runs of 1 to 8 a block, which has 2048 places and says how many it took.
extern "C" __global__ void expand_runs(const uchar* lengths, const int* values, int* y, int* taken) {
  __shared__ int ends[256], kept[256], sums[8];
  int t = threadIdx.x, lane = t & 31, run = blockIdx.x * 256 + t, end = lengths[run];
  for (int k = 1; k < 32; k *= 2) {
    int below = __shfl_up_sync(~0u, end, k);
    if (lane >= k) end += below;
  }
  if (lane == 31) sums[t / 32] = end;
  __syncthreads();
  for (int k = 0; k < t / 32; ++k) end += sums[k];
  ends[t] = end;
  kept[t] = values[run];
  __syncthreads();
  int all = ends[255];
  for (int i = t; i < all; i += 256) {
    int low = 0;
#pragma unroll
    for (int step = 128; step; step /= 2)
      if (ends[low + step - 1] <= i) low += step;
    y[blockIdx.x * 2048 + i] = kept[low];
  }
  if (t == 0) taken[blockIdx.x] = all;
}

// The largest of each 32 numbers that follow each other: from each place to the end of its warp's piece, and from the
// beginning of the next piece.
extern "C" __global__ void sliding_most(const float* x, float* y, int n) {
  __shared__ float ahead[9][32];
  int t = threadIdx.x, lane = t & 31, i = blockIdx.x * 256 + t;
  float back = x[i], front = back;
  for (int k = 1; k < 32; k *= 2) {
    float before = __shfl_up_sync(~0u, front, k), after = __shfl_down_sync(~0u, back, k);
    if (lane >= k) front = fmaxf(front, before);
    if (lane + k < 32) back = fmaxf(back, after);
  }
  ahead[t / 32][lane] = front;
  if (t < 32) {
    float v = x[min(blockIdx.x * 256 + 256 + t, n - 1)];
    for (int k = 1; k < 32; k *= 2) {
      float before = __shfl_up_sync(~0u, v, k);
      if (lane >= k) v = fmaxf(v, before);
    }
    ahead[8][lane] = v;
  }
  __syncthreads();
  y[i] = lane ? fmaxf(back, ahead[t / 32 + 1][lane - 1]) : back;
}

// Keccak's 24 rounds on 25 words of 64 bits, of which the first is the number of the thread.
__constant__ ull rounds[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b, 0x0000000080000001,
    0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
    0x000000000000800a, 0x800000008000000a, 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
__device__ ull turned(ull v, int by) { return by ? v << by | v >> (64 - by) : v; }
extern "C" __global__ void keccak(const ull* salt, ulonglong2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ull s[25], u[25], c[5];
#pragma unroll
  for (int k = 0; k < 25; ++k) s[k] = salt[k];
  s[0] ^= (ull)i;
#pragma unroll 1
  for (int round = 0; round < 24; ++round) {
#pragma unroll
    for (int k = 0; k < 5; ++k) c[k] = s[k] ^ s[k + 5] ^ s[k + 10] ^ s[k + 15] ^ s[k + 20];
#pragma unroll
    for (int k = 0; k < 25; ++k) s[k] ^= c[(k + 4) % 5] ^ turned(c[(k + 1) % 5], 1);
    int x = 1, z = 0;
    u[0] = s[0];
#pragma unroll
    for (int k = 0; k < 24; ++k) {
      int next = (2 * x + 3 * z) % 5;
      u[z + 5 * next] = turned(s[x + 5 * z], (k + 1) * (k + 2) / 2 % 64);
      x = z;
      z = next;
    }
#pragma unroll
    for (int k = 0; k < 25; ++k) s[k] = u[k] ^ (~u[k / 5 * 5 + (k + 1) % 5] & u[k / 5 * 5 + (k + 2) % 5]);
    s[0] ^= rounds[round];
  }
  y[2 * i] = make_ulonglong2(s[0], s[1]);
  y[2 * i + 1] = make_ulonglong2(s[2], s[3]);
}

// How far two series of 64 numbers are apart if time may stretch: a warp a pair, two columns a lane, step by step along
// the slope.
extern "C" __global__ void warped_time(const float* a, const float2* b, float* y) {
  int lane = threadIdx.x & 31, pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  float2 mine = b[pair * 32 + lane];
  float low = a[pair * 64 + lane], high = a[pair * 64 + 32 + lane], left = 1e30f, right = 1e30f, corner = 1e30f;
  if (lane == 0) corner = 0;
  for (int step = 0; step < 95; ++step) {
    int row = step - lane;
    float value = __shfl_sync(~0u, low, row & 31), later = __shfl_sync(~0u, high, row & 31);
    if (row >= 32) value = later;
    float beside = __shfl_up_sync(~0u, right, 1);
    if (lane == 0) beside = 1e30f;
    if (row >= 0 && row < 64) {
      float was = left;
      left = (value - mine.x) * (value - mine.x) + fminf(fminf(was, beside), corner);
      right = (value - mine.y) * (value - mine.y) + fminf(fminf(right, left), was);
      corner = beside;
    }
  }
  if (lane == 31) y[pair] = right;
}

// A step of a breadth-first search from below: each node that nobody has reached looks among its 16 neighbours for the
// first that was reached in the last step.
extern "C" __global__ void reached_from_below(const int4* neighbours, const uchar* level, uchar* now, int* parent, int last,
                                              int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nodes) return;
  int mine = level[i], from = -1;
  if (mine > last) {
    for (int k = 0; k < 4 && from < 0; ++k) {
      int4 v = neighbours[4 * i + k];
      if (level[v.x] == last) from = v.x;
      else if (level[v.y] == last) from = v.y;
      else if (level[v.z] == last) from = v.z;
      else if (level[v.w] == last) from = v.w;
    }
    if (from >= 0) mine = last + 1;
  }
  now[i] = (uchar)mine;
  parent[i] = from;
}
