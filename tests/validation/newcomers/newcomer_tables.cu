// Newcomers: segments, words, numbers and codes (launches: launches.toml).
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ull = unsigned long long;
constexpr uint every_lane = 0xffffffffu;

// Sum and maximum of each segment of a long array: segment s goes from 40 s + first[s] to where the next begins.
struct Segments {
  const uchar* first;
  __device__ int start(int s) const { return 40 * s + first[s]; }
};
// An element a thread, which looks for its segment.
extern "C" __global__ void segments_atomic(const int* x, const uchar* first, int* sum, int* most, int n) {
  const Segments segments{first};
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  int s = at / 40;
  if (s > n || (s == n && at >= segments.start(n))) return;
  if (at < segments.start(s)) --s;
  if (s < 0) return;
  atomicAdd(&sum[s], x[at]);
  atomicMax(&most[s], x[at]);
}
// A segment a thread.
extern "C" __global__ void segments_thread(const int* x, const uchar* first, int* sum, int* most, int n) {
  const Segments segments{first};
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= n) return;
  int total = 0, largest = 0;
  for (int at = segments.start(s), end = segments.start(s + 1); at < end; ++at) {
    total += x[at];
    largest = max(largest, x[at]);
  }
  sum[s] = total;
  most[s] = largest;
}
// As many lanes as a group has a segment.
template <int group> __device__ void segments_by_groups(const int* x, Segments segments, int* sum, int* most, int n) {
  const int s = (blockIdx.x * blockDim.x + threadIdx.x) / group, part = threadIdx.x % group;
  int total = 0, largest = 0;
  if (s < n)
    for (int at = segments.start(s) + part, end = segments.start(s + 1); at < end; at += group) {
      total += x[at];
      largest = max(largest, x[at]);
    }
#pragma unroll
  for (int k = group / 2; k > 0; k /= 2) {
    total += __shfl_down_sync(every_lane, total, k, group);
    largest = max(largest, __shfl_down_sync(every_lane, largest, k, group));
  }
  if (s < n && part == 0) {
    sum[s] = total;
    most[s] = largest;
  }
}
extern "C" __global__ void segments_warp(const int* x, const uchar* first, int* sum, int* most, int n) {
  segments_by_groups<32>(x, Segments{first}, sum, most, n);
}
extern "C" __global__ void segments_eights(const int* x, const uchar* first, int* sum, int* most, int n) {
  segments_by_groups<8>(x, Segments{first}, sum, most, n);
}

// In how many steps numbers come to one, if an odd one becomes three times itself and one, and an even one its half.
extern "C" __global__ void steps_plain(ull start, ushort* steps, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  ull v = start + at;
  int count = 0;
  while (v != 1) {
    if (v % 2 == 1)
      v = 3 * v + 1;
    else
      v = v / 2;
    ++count;
  }
  steps[at] = count;
}
// All halves at once.
extern "C" __global__ void steps_zeros(ull start, ushort* steps, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  ull v = start + at;
  int zeros = __ffsll(v) - 1, count = zeros;
  v >>= zeros;
  while (v != 1) {
    v = 3 * v + 1;
    zeros = __ffsll(v) - 1;
    v >>= zeros;
    count += zeros + 1;
  }
  steps[at] = count;
}
// Eight halves with what comes between, by a table of 256 in shared memory; what is below 256 is looked up.
extern "C" __global__ void steps_table(ull start, ushort* steps, int n) {
  __shared__ uint factor[256], more[256];
  __shared__ uchar odds[256], rest[256];
  const int t = threadIdx.x;
  uint by = 1, add = t;
  int odd = 0;
  for (int k = 0; k < 8; ++k)
    if (add % 2) {
      add = (3 * add + 1) / 2;
      by *= 3;
      ++odd;
    } else {
      add /= 2;
    }
  factor[t] = by;
  more[t] = add;
  odds[t] = 8 + odd;
  int count = 0;
  for (uint v = t; v > 1; ++count) v = v % 2 ? 3 * v + 1 : v / 2;
  rest[t] = count;
  __syncthreads();
  for (int at = blockIdx.x * blockDim.x + t; at < n; at += gridDim.x * blockDim.x) {
    ull v = start + at;
    count = 0;
    while (v >= 256) {
      const int low = v & 255;
      v = (v >> 8) * factor[low] + more[low];
      count += odds[low];
    }
    steps[at] = count + rest[v];
  }
}

// How many letters to change, put in or leave out until a word of up to 24 letters is the one that was asked for.
constexpr int letters = 24;
__device__ int least(int a, int b, int c) { return min(min(a, b), c); }
// A row of the table a thread, in local memory.
extern "C" __global__ void spelling_local(const uchar* words, const uchar* length, const uchar* asked, int has,
                                          uchar* apart, int n) {
  const int word = blockIdx.x * blockDim.x + threadIdx.x;
  if (word >= n) return;
  int row[letters + 1];
  for (int k = 0; k <= has; ++k) row[k] = k;
  for (int i = 0; i < length[word]; ++i) {
    int corner = row[0];
    row[0] = i + 1;
    for (int k = 0; k < has; ++k) {
      const int now = least(row[k] + 1, row[k + 1] + 1, corner + (words[word * letters + i] != asked[k]));
      corner = row[k + 1];
      row[k + 1] = now;
    }
  }
  apart[word] = row[has];
}
// The rows of a block stand in shared memory, a thread a column.
extern "C" __global__ void spelling_shared(const uchar* words, const uchar* length, const uchar* asked, int has,
                                           uchar* apart, int n) {
  __shared__ int row[letters + 1][128];
  const int t = threadIdx.x, word = blockIdx.x * 128 + t;
  if (word >= n) return;
  for (int k = 0; k <= has; ++k) row[k][t] = k;
  for (int i = 0; i < length[word]; ++i) {
    const int letter = words[word * letters + i];
    int corner = i, left = i + 1;
    for (int k = 0; k < has; ++k) {
      const int above = row[k + 1][t];
      left = least(left + 1, above + 1, corner + (letter != asked[k]));
      corner = above;
      row[k + 1][t] = left;
    }
  }
  apart[word] = length[word] ? row[has][t] : has;
}
// The row stays in registers, letters come eight at a time.
extern "C" __global__ void spelling_registers(const uint2* words, const uchar* length, const uchar* asked, int has,
                                              uchar* apart, int n) {
  __shared__ int wanted[letters];
  if (threadIdx.x < letters) wanted[threadIdx.x] = threadIdx.x < has ? asked[threadIdx.x] : 0;
  __syncthreads();
  const int word = blockIdx.x * blockDim.x + threadIdx.x;
  if (word >= n) return;
  int row[letters + 1];
#pragma unroll
  for (int k = 0; k <= letters; ++k) row[k] = k;
  const int ends = length[word];
  for (int eight = 0; 8 * eight < ends; ++eight) {
    const uint2 packed = words[3 * word + eight];
    ull next = packed.x | (ull)packed.y << 32;
    for (int i = 8 * eight; i < min(ends, 8 * eight + 8); ++i, next >>= 8) {
      const int letter = next & 255;
      int corner = row[0];
      row[0] = i + 1;
#pragma unroll
      for (int k = 0; k < letters; ++k) {
        const int now = least(row[k] + 1, row[k + 1] + 1, corner + (letter != wanted[k]));
        corner = row[k + 1];
        row[k + 1] = now;
      }
    }
  }
  int found = 0;
#pragma unroll
  for (int k = 0; k <= letters; ++k)
    if (k == has) found = row[k];
  apart[word] = found;
}

// Pieces of 1024 keys are put in order by four bits at a time; each thread counts its four keys in counters of its own.
extern "C" __global__ void radix_pieces(uint4* keys) {
  __shared__ ushort counter[16][256];
  __shared__ uint piece[1024];
  __shared__ int before[8];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  uint4 four = keys[blockIdx.x * 256 + t];
  for (int bit = 0; bit < 32; bit += 4) {
    const uint mine[4] = {four.x, four.y, four.z, four.w};
    for (int d = 0; d < 16; ++d) counter[d][t] = 0;
    ushort rank[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) rank[k] = counter[mine[k] >> bit & 15][t]++;
    __syncthreads();
    ushort* strip = &counter[0][0] + 16 * t;  // sixteen counters in the order of digits, then of threads
    int sum = 0;
    for (int k = 0; k < 16; ++k) sum += strip[k];
    int up_to = sum;
    for (int k = 1; k < 32; k *= 2) {
      const int other = __shfl_up_sync(every_lane, up_to, k);
      if (lane >= k) up_to += other;
    }
    if (lane == 31) before[warp] = up_to;
    __syncthreads();
    int start = up_to - sum;
    for (int w = 0; w < warp; ++w) start += before[w];
    for (int k = 0; k < 16; ++k) {
      const int count = strip[k];
      strip[k] = start;
      start += count;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; ++k) piece[counter[mine[k] >> bit & 15][t] + rank[k]] = mine[k];
    __syncthreads();
    four = reinterpret_cast<const uint4*>(piece)[t];
  }
  keys[blockIdx.x * 256 + t] = four;
}

// Pieces of 512 bytes are unpacked, a warp a piece: a byte says how many letters follow (its high three bits) and how
// many after them are taken from before (three and more); then come the letters, and how far back, less one.
extern "C" __global__ void unpack_pieces(const uchar* packed, uint4* out, int n) {
  __shared__ __align__(16) uchar all[4][512];
  const int warp = threadIdx.y, lane = threadIdx.x, piece = blockIdx.x * 4 + warp;
  if (piece >= n) return;
  const uchar* from = packed + 528 * (size_t)piece;
  uchar* to = all[warp];
  int in = 0, made = 0;
  while (made < 512) {
    const int token = from[in++], plain = min(token >> 5, 512 - made);
    if (lane < plain) to[made + lane] = from[in + lane];
    in += token >> 5;
    made += plain;
    __syncwarp();
    const int again = min((token & 31) + 3, 512 - made), back = min(from[in++] + 1, made);
    for (int k = lane; k < again; k += 32) to[made + k] = back > 0 ? to[made - back + k % back] : 0;
    made += again;
    __syncwarp();
  }
  out[32 * (size_t)piece + lane] = reinterpret_cast<const uint4*>(to)[lane];
}

// Which lines of up to 64 letters a machine of 32 states accepts: letters are of 16 kinds, nothing leaves state 0.
extern "C" __global__ void accepted_lines(const uint* text, const uchar* length, const uchar* kind, const uchar* next,
                                          uint accepts, uint* accepted, int n) {
  __shared__ uchar kinds[256], table[32][16];
  for (int k = threadIdx.x; k < 512; k += blockDim.x) {
    if (k < 256) kinds[k] = kind[k];
    table[k / 16][k % 16] = next[k];
  }
  __syncthreads();
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  int state = 1;
  if (line < n) {
    const int ends = length[line];
    for (int at = 0; at < ends && state; at += 4) {
      uint four = text[16 * (size_t)line + at / 4];
      for (int k = at; k < min(at + 4, ends) && state; ++k, four >>= 8) state = table[state][kinds[four & 255]];
    }
  }
  const uint all = __ballot_sync(every_lane, line < n && (accepts >> state & 1));
  if (threadIdx.x % 32 == 0 && line < n) accepted[line / 32] = all;
}
