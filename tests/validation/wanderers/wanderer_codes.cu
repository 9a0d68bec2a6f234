// Wanderers: codes, letters, edges and bits (launches: launches.toml).
#include <cstdint>

// Product quantisation: vector i is coded by 16 bytes, each of which names one of 256 parts; a query's table says how
// far each part is away, and the distance is the sum of 16 of them.
namespace pq {
constexpr int parts = 16, kinds = 256;

template <class Table> __device__ float four(unsigned codes, Table table, int part) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) sum += table[(part + k) * kinds + (codes >> 8 * k & 255)];
  return sum;
}
template <class Table> __device__ float distance(uint4 codes, Table table) {
  return four(codes.x, table, 0) + four(codes.y, table, 4) + (four(codes.z, table, 8) + four(codes.w, table, 12));
}
__device__ void bring(float* shared, const float* table) {
  auto to = reinterpret_cast<float4*>(shared);
  auto from = reinterpret_cast<const float4*>(table);
  for (int k = threadIdx.x; k < parts * kinds / 4; k += blockDim.x) to[k] = from[k];
  __syncthreads();
}
}  // namespace pq

// Byte by byte, the table from global memory.
extern "C" __global__ void coded_bytes(const uint8_t* codes, const float* table, float* distance, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int part = 0; part < pq::parts; ++part) sum += table[part * pq::kinds + codes[i * pq::parts + part]];
  distance[i] = sum;
}
// All sixteen bytes at once.
extern "C" __global__ void coded_words(const uint4* codes, const float* __restrict__ table, float* distance, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) distance[i] = pq::distance(codes[i], table);
}
// The table in shared memory.
extern "C" __global__ void coded_shared(const uint4* codes, const float* table, float* distance, int n) {
  __shared__ float near[pq::parts * pq::kinds];
  pq::bring(near, table);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    distance[i] = pq::distance(codes[i], near);
}
// The codes of four vectors are on their way at a time.
extern "C" __global__ void __launch_bounds__(256) coded_fours(const uint4* codes, const float* table, float* distance,
                                                              int n) {
  __shared__ float near[pq::parts * pq::kinds];
  pq::bring(near, table);
  for (int first = blockIdx.x * 1024 + threadIdx.x; first < n; first += gridDim.x * 1024) {
    uint4 mine[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) mine[k] = codes[min(first + 256 * k, n - 1)];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (first + 256 * k < n) distance[first + 256 * k] = pq::distance(mine[k], near);
  }
}

// How many edges come to and leave each node.  An edge a thread.
extern "C" __global__ void degrees_edge(const int* edges, int* in, int* out, int count) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  atomicAdd(out + edges[2 * e], 1);
  atomicAdd(in + edges[2 * e + 1], 1);
}
// Four edges a thread.
extern "C" __global__ void degrees_fours(const int4* pairs, int* in, int* out, int count) {
  int e = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = e; k < e + 2 && 2 * k < count; ++k) {
    int4 two = pairs[k];
    atomicAdd(out + two.x, 1);
    atomicAdd(in + two.y, 1);
    atomicAdd(out + two.z, 1);
    atomicAdd(in + two.w, 1);
  }
}
// A block counts for 4096 nodes in shared memory, for its share of the edges.
extern "C" __global__ void degrees_ranges(const int4* pairs, int* in, int* out, int count, int nodes) {
  extern __shared__ int counted[];
  constexpr int range = 4096;
  const int first = blockIdx.y * range;
  for (int k = threadIdx.x; k < 2 * range; k += blockDim.x) counted[k] = 0;
  __syncthreads();
  auto count_in = [&](int* counters, int node) {
    unsigned at = node - first;
    if (at < range) atomicAdd(counters + at, 1);
  };
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; 2 * k < count; k += gridDim.x * blockDim.x) {
    int4 two = pairs[k];
    count_in(counted, two.x);
    count_in(counted, two.z);
    count_in(counted + range, two.y);
    count_in(counted + range, two.w);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < min(range, nodes - first); k += blockDim.x) {
    if (counted[k]) atomicAdd(out + first + k, counted[k]);
    if (counted[range + k]) atomicAdd(in + first + k, counted[range + k]);
  }
}

// Squares of 32 x 32 bits are turned: bit i of word j is bit j of word i.  A word a thread, which reads them all.
extern "C" __global__ void bits_turned_word(const uint32_t* from, uint32_t* to, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= 32 * n) return;
  const uint32_t* square = from + (at & ~31);
  uint32_t word = 0;
  for (int i = 0; i < 32; ++i) word |= (square[i] >> (at & 31) & 1) << i;
  to[at] = word;
}
// A square a thread, in registers: halves change places, then quarters ...
extern "C" __global__ void bits_turned_square(const uint4* from, uint4* to, int n) {
  int square = blockIdx.x * blockDim.x + threadIdx.x;
  if (square >= n) return;
  uint32_t a[32];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    uint4 v = from[8 * square + k];
    a[4 * k] = v.x, a[4 * k + 1] = v.y, a[4 * k + 2] = v.z, a[4 * k + 3] = v.w;
  }
  uint32_t mask = 0x0000ffff;
#pragma unroll
  for (int step = 16; step; step >>= 1, mask ^= mask << step)
#pragma unroll
    for (int k = 0; k < 32; ++k)
      if (!(k & step)) {
        uint32_t change = (a[k] >> step ^ a[k + step]) & mask;
        a[k] ^= change << step;
        a[k + step] ^= change;
      }
#pragma unroll
  for (int k = 0; k < 8; ++k) to[8 * square + k] = make_uint4(a[4 * k], a[4 * k + 1], a[4 * k + 2], a[4 * k + 3]);
}
// A square a warp, a vote a word.
extern "C" __global__ void bits_turned_votes(const uint32_t* from, uint32_t* to, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  if (at / 32 >= n) return;
  uint32_t mine = from[at], word = 0;
#pragma unroll
  for (int j = 0; j < 32; ++j) {
    uint32_t votes = __ballot_sync(~0u, mine >> j & 1);
    if (lane == j) word = votes;
  }
  to[at] = word;
}
// A square a warp in five exchanges.
extern "C" __global__ void bits_turned_swaps(const uint32_t* from, uint32_t* to, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  if (at / 32 >= n) return;
  uint32_t mine = from[at], mask = 0x0000ffff;
#pragma unroll
  for (int step = 16; step; step >>= 1, mask ^= mask << step) {
    uint32_t other = __shfl_xor_sync(~0u, mine, step);
    mine = lane & step ? (mine & ~mask) | (other >> step & mask) : (mine & mask) | (other & mask) << step;
  }
  to[at] = mine;
}

// Where a word of up to eight letters stands first in each of n strings, or -1.  String s begins at 32 s + first[s].
struct Strings {
  const char* text;
  const uint8_t* first;
  __device__ int begin(int s) const { return 32 * s + first[s]; }
};
// A string a thread, letter by letter.
extern "C" __global__ void found_letters(const char* text, const uint8_t* first, const char* word, int letters,
                                         int16_t* found, int n) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= n) return;
  Strings strings{text, first};
  int begin = strings.begin(s), last = strings.begin(s + 1) - letters;
  for (int at = begin; at <= last; ++at) {
    int same = 0;
    while (same < letters && text[at + same] == word[same]) ++same;
    if (same == letters) {
      found[s] = at - begin;
      return;
    }
  }
  found[s] = -1;
}
// A string a thread; the last eight letters are kept in a register, and the text comes in words.
__device__ int found_by_words(const uint32_t* words, int begin, int end, uint64_t wanted, int letters) {
  uint64_t mask = ~0ull << 8 * (8 - letters), window = 0;
  for (int k = begin / 4; 4 * k < end; ++k) {
    uint32_t four = words[k];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      window = window >> 8 | (uint64_t)(four >> 8 * b & 255) << 56;
      int at = 4 * k + b + 1 - letters;
      if (at >= begin && 4 * k + b < end && (window & mask) == wanted) return at - begin;
    }
  }
  return -1;
}
__device__ uint64_t packed(const char* word, int letters) {
  uint64_t all = 0;
  for (int k = 0; k < letters; ++k) all = all >> 8 | (uint64_t)(uint8_t)word[k] << 56;
  return all;
}
extern "C" __global__ void found_words(const char* text, const uint8_t* first, const char* word, int letters,
                                       int16_t* found, int n) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= n) return;
  Strings strings{text, first};
  found[s] = found_by_words(reinterpret_cast<const uint32_t*>(text), strings.begin(s), strings.begin(s + 1),
                            packed(word, letters), letters);
}
// A string a warp, a beginning a lane.
extern "C" __global__ void found_warp(const char* text, const uint8_t* first, const char* word, int letters,
                                      int16_t* found, int n) {
  int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (s >= n) return;
  Strings strings{text, first};
  int begin = strings.begin(s), last = strings.begin(s + 1) - letters, place = -1;
  for (int at = begin; at <= last && place < 0; at += 32) {
    bool same = at + lane <= last;
    for (int k = 0; same && k < letters; ++k) same = text[at + lane + k] == word[k];
    if (unsigned votes = __ballot_sync(~0u, same)) place = at - begin + __ffs(votes) - 1;
  }
  if (lane == 0) found[s] = place;
}
// The letters of a block's 128 strings come to shared memory.
extern "C" __global__ void found_staged(const char* text, const uint8_t* first, const char* word, int letters,
                                        int16_t* found, int n) {
  __shared__ uint32_t stage[32 * 129 / 4 + 1];
  int lead = blockIdx.x * 128, s = lead + threadIdx.x;
  Strings strings{text, first};
  int from = 32 * lead, to = strings.begin(min(n, lead + 128));
  auto words = reinterpret_cast<const uint32_t*>(text + from);
  for (int k = threadIdx.x; 4 * k < to - from; k += 128) stage[k] = words[k];
  __syncthreads();
  if (s >= n) return;
  found[s] =
      found_by_words(stage, strings.begin(s) - from, strings.begin(s + 1) - from, packed(word, letters), letters);
}
