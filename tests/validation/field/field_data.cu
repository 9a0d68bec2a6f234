// Kernels that sort, search, count and link, as people write them: results and counters beside an H200's
// (launches.toml has the launches).
using uint = unsigned;
using ulong = unsigned long long;

// Histogram of 4,096 bins in shared memory; only bins that were hit go to global memory.
extern "C" __global__ void bins_4096(const uint* x, uint* bins, int n) {
  __shared__ uint own[4096];
  for (int b = threadIdx.x; b < 4096; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&own[x[i] & 4095], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 4096; b += blockDim.x)
    if (own[b]) atomicAdd(&bins[b], own[b]);
}
// Histogram in global memory, one atomic for all lanes of a warp with the same bin.
extern "C" __global__ void bins_matched(const unsigned short* x, uint* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    uint on = __activemask();
    uint same = __match_any_sync(on, (uint)x[i]);
    if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&bins[x[i]], (uint)__popc(same));
  }
}
// Exclusive scan of 1,024 numbers a block: up and down a tree, with a word to spare in every 32.
__device__ int spread(int i) { return i + (i >> 5); }
extern "C" __global__ void scan_tree(const int* x, int* y, int* totals, int n) {
  __shared__ int s[1024 + 32];
  int base = blockIdx.x * 1024, t = threadIdx.x;
  s[spread(t)] = base + t < n ? x[base + t] : 0;
  s[spread(t + 512)] = base + t + 512 < n ? x[base + t + 512] : 0;
  int step = 1;
  for (int d = 512; d > 0; d >>= 1, step *= 2) {
    __syncthreads();
    if (t < d) s[spread(step * (2 * t + 2) - 1)] += s[spread(step * (2 * t + 1) - 1)];
  }
  if (t == 0) { totals[blockIdx.x] = s[spread(1023)]; s[spread(1023)] = 0; }
  for (int d = 1; d < 1024; d *= 2) {
    step >>= 1;
    __syncthreads();
    if (t < d) {
      int a = spread(step * (2 * t + 1) - 1), b = spread(step * (2 * t + 2) - 1), v = s[a];
      s[a] = s[b];
      s[b] += v;
    }
  }
  __syncthreads();
  if (base + t < n) y[base + t] = s[spread(t)];
  if (base + t + 512 < n) y[base + t + 512] = s[spread(t + 512)];
}
// Inclusive scan of everything in one pass: blocks draw tickets, publish sums and then prefixes, and look back.
extern "C" __global__ void scan_single_pass(const int* x, int* y, volatile ulong* state, uint* ticket, int n) {
  __shared__ int sums[8], before;
  __shared__ uint mine;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1u);
  __syncthreads();
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, i = mine * 256 + threadIdx.x, v = i < n ? x[i] : 0;
  for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, v, d); if (lane >= d) v += u; }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  int own = 0, all = 0;
  for (int w = 0; w < 8; ++w) { if (w < warp) own += sums[w]; all += sums[w]; }
  if (threadIdx.x == 0) {
    int prefix = 0;
    if (mine) {
      state[mine] = 1ull << 32 | (uint)all;
      for (int back = mine - 1;; ) {
        ulong seen = state[back];
        if (seen >> 32 == 0) continue;
        prefix += (int)(uint)seen;
        if (seen >> 32 == 2) break;
        --back;
      }
    }
    state[mine] = 2ull << 32 | (uint)(prefix + all);
    before = prefix;
  }
  __syncthreads();
  if (i < n) y[i] = before + own + v;
}
// Keeps what is above a threshold, block by block: places by ballots; the block's count goes along.
extern "C" __global__ void keep_above(const float* x, float* y, int* counts, float threshold, int n) {
  __shared__ int sums[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  bool keep = i < n && x[i] > threshold;
  uint votes = __ballot_sync(~0u, keep);
  if (lane == 0) sums[warp] = __popc(votes);
  __syncthreads();
  if (warp == 0) {
    int s = lane < blockDim.x / 32 ? sums[lane] : 0;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, s, d); s += lane >= d ? u : 0; }
    sums[lane] = s;
    if (lane == 31) counts[blockIdx.x] = s;
  }
  __syncthreads();
  if (keep) y[blockIdx.x * blockDim.x + (warp ? sums[warp - 1] : 0) + __popc(votes & ((1u << lane) - 1))] = x[i];
}
// Sorts 256 keys of a block by 4 of their bits, a bit at a time, and counts the digits.
extern "C" __global__ void radix_split(const uint* x, uint* y, uint* digits, int shift) {
  __shared__ uint keys[256], zeros[8], count[16];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  uint key = x[blockIdx.x * 256 + t];
  if (t < 16) count[t] = 0;
  for (int bit = shift; bit < shift + 4; ++bit) {
    uint ones = __ballot_sync(~0u, key >> bit & 1);
    if (lane == 0) zeros[warp] = 32 - __popc(ones);
    __syncthreads();
    uint before = 0, all = 0;
    for (int w = 0; w < 8; ++w) { before += w < warp ? zeros[w] : 0; all += zeros[w]; }
    uint low = __popc(~ones & ((1u << lane) - 1));
    uint place = key >> bit & 1 ? all + t - before - low : before + low;
    keys[place] = key;
    __syncthreads();
    key = keys[t];
    __syncthreads();
  }
  atomicAdd(&count[key >> shift & 15], 1u);
  y[blockIdx.x * 256 + t] = key;
  __syncthreads();
  if (t < 16) digits[t * gridDim.x + blockIdx.x] = count[t];
}
// Merges two sorted arrays: every thread finds its diagonal by bisection and merges 7 numbers.
extern "C" __global__ void merge_path(const int* a, const int* b, int* c, int na, int nb) {
  int d = (blockIdx.x * blockDim.x + threadIdx.x) * 7;
  if (d >= na + nb) return;
  int low = max(0, d - nb), high = min(d, na);
  while (low < high) {
    int mid = (low + high) / 2;
    if (a[mid] <= b[d - 1 - mid]) low = mid + 1; else high = mid;
  }
  int i = low, j = d - low;
  for (int k = d; k < min(d + 7, na + nb); ++k) c[k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}
// Bitonic sort of 1,024 pairs of a key and a value in shared memory, 512 threads.
extern "C" __global__ void bitonic_pairs(const uint* x, ulong* y) {
  __shared__ ulong s[1024];
  int base = blockIdx.x * 1024;
  for (int i = threadIdx.x; i < 1024; i += 512) s[i] = (ulong)x[base + i] << 32 | i;
  for (int size = 2; size <= 1024; size *= 2)
    for (int stride = size / 2; stride; stride /= 2) {
      __syncthreads();
      int low = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      bool up = !(low & size);
      ulong a = s[low], b = s[low + stride];
      if ((a > b) == up) { s[low] = b; s[low + stride] = a; }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 512) y[base + i] = s[i];
}
// Sums of runs of equal keys: a scan within the warp that stops at heads of runs, one atomic a run and warp.  Keys grow
// by one where `step` is below 300.
extern "C" __global__ void sum_by_key(const int* step, const int* values, int* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = i < n ? values[i] : 0;
  unsigned heads = __ballot_sync(~0u, lane == 0 || (i < n && step[i] < 300));
  int start = 31 - __clz(heads & ((2u << lane) - 1));
  for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, v, d); if (lane - d >= start) v += u; }
  bool last = lane == 31 || (heads >> (lane + 1) & 1);
  if (last && i < n) atomicAdd(&sums[i - lane + start], v);
}
extern "C" __global__ void bit_reversal(const float2* x, float2* y, int bits) {
  uint i = blockIdx.x * blockDim.x + threadIdx.x;
  y[__brev(i) >> (32 - bits)] = x[i];
}
// Rows of 64 floats by number, half a warp a row.
extern "C" __global__ void gather_rows(const float4* table, const int* rows, float4* y, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 16, c = threadIdx.x & 15;
  if (i < n) y[i * 16 + c] = table[rows[i] * 16 + c];
}
extern "C" __global__ void scatter_pairs(const int2* x, const int* to, int2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[to[i]] = x[i];
}
// A hash table of 128 slots a warp: 64 keys go in, then 64 are looked up.
__device__ uint mixed(uint k) { k ^= k >> 16; k *= 0x7feb352du; k ^= k >> 15; k *= 0x846ca68bu; return k ^ k >> 16; }
extern "C" __global__ void hash_warp(const uint* keys, const uint* wanted, int* found) {
  __shared__ uint slots[128];
  int lane = threadIdx.x, base = blockIdx.x * 64;
  for (int s = lane; s < 128; s += 32) slots[s] = ~0u;
  __syncwarp();
  for (int k = lane; k < 64; k += 32) {
    uint key = keys[base + k], at = mixed(key) & 127;
    while (true) {
      uint old = atomicCAS(&slots[at], ~0u, key);
      if (old == ~0u || old == key) break;
      at = (at + 1) & 127;
    }
  }
  __syncwarp();
  for (int k = lane; k < 64; k += 32) {
    uint key = wanted[base + k], at = mixed(key) & 127;
    int tries = 1;
    while (slots[at] != key && slots[at] != ~0u) { at = (at + 1) & 127; ++tries; }
    found[base + k] = slots[at] == key ? tries : -tries;
  }
}
// A hash table in global memory: insertion, and lookup in one that is there.
extern "C" __global__ void hash_insert(const uint* keys, uint* slots, uint mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint key = keys[i], at = mixed(key) & mask;
  for (uint old; (old = atomicCAS(&slots[at], ~0u, key)) != ~0u && old != key;) at = (at + 1) & mask;
}
extern "C" __global__ void hash_lookup(const uint* wanted, const uint* slots, int* found, uint mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint key = wanted[i], at = mixed(key) & mask;
  int tries = 0;
  for (uint seen; tries < 16 && (seen = slots[at]) != key; ++tries) at = (at + 1) & mask;
  found[i] = tries < 16 ? (int)at : -1;
}
// Neighbours of a frontier, both as bits: a thread a node; row r has the edges from r * 8 + first[r] on.
extern "C" __global__ void frontier_bits(const uint* frontier, const uint* visited, uint* next, const int* first,
                                         const int* to, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n || !(frontier[r >> 5] >> (r & 31) & 1)) return;
  for (int e = r * 8 + first[r]; e < (r + 1) * 8 + first[r + 1]; ++e) {
    int v = to[e];
    if (!(visited[v >> 5] >> (v & 31) & 1)) atomicOr(&next[v >> 5], 1u << (v & 31));
  }
}
// Every node points to its grandparent's parent.
extern "C" __global__ void pointer_jumping(const int* parent, int* up, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) up[i] = parent[parent[parent[i]]];
}
// Bisection in a sorted array by a whole warp: 32 ways a step.
extern "C" __global__ void search_warp(const int* sorted, int n, const int* wanted, int* place, int m) {
  int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (w >= m) return;
  int key = wanted[w], low = 0, high = n;
  while (high - low > 32) {
    int step = (high - low + 31) / 32, probe = low + lane * step;
    uint below = __ballot_sync(~0u, probe < high && sorted[probe] < key);
    int ways = __popc(below);
    if (ways == 0) { high = low; break; }
    low += (ways - 1) * step;
    high = min(high, low + step);
  }
  uint below = __ballot_sync(~0u, low + lane < high && sorted[low + lane] < key);
  if (lane == 0) place[w] = low + __popc(below);
}
