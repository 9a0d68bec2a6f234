// Guests: bytes, codes, tables and graphs (launches: launches.toml).
using uint = unsigned;
using uchar = unsigned char;
using ushort = unsigned short;
using ll = long long;
using ull = unsigned long long;

// Numbers of 11 bits, one after the other, become 16 bits each.  From bytes, a number a thread.
extern "C" __global__ void unpack_bytes(const uchar* x, ushort* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ll bit = 11LL * i;
  const uchar* p = x + bit / 8;
  y[i] = (ushort)((p[0] | p[1] << 8 | p[2] << 16) >> bit % 8 & 2047);
}
// From words.
extern "C" __global__ void unpack_words(const uint* x, ushort* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ll bit = 11LL * i;
  const uint* p = x + bit / 32;
  y[i] = (ushort)(__funnelshift_r(p[0], p[1], (uint)bit % 32) & 2047);
}
// A thread takes 32 numbers out of eleven words.
extern "C" __global__ void unpack_thread(const uint* x, ushort* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (32 * i >= n) return;
  uint w[12];
#pragma unroll
  for (int k = 0; k < 11; ++k) w[k] = x[11 * i + k];
  w[11] = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) y[32 * i + k] = (ushort)(__funnelshift_r(w[11 * k / 32], w[11 * k / 32 + 1], 11 * k % 32) & 2047);
}
// A block brings the words of 2048 numbers to shared memory; eight neighbours a thread, stored at once.
extern "C" __global__ void unpack_staged(const uint* x, uint4* y, int n) {
  __shared__ uint s[705];
  int t = threadIdx.x;
  for (int k = t; k < 704; k += 256) s[k] = x[blockIdx.x * 704 + k];
  if (t == 0) s[704] = 0;
  __syncthreads();
  uint v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    uint bit = 11 * (8 * t + k);
    v[k] = __funnelshift_r(s[bit / 32], s[bit / 32 + 1], bit % 32) & 2047;
  }
  y[blockIdx.x * 256 + t] = make_uint4(v[0] | v[1] << 16, v[2] | v[3] << 16, v[4] | v[5] << 16, v[6] | v[7] << 16);
}

// Ten rounds on blocks of 16 bytes by four tables of 256 words, in the manner of AES (the last round like the others).
extern "C" __global__ void table_rounds(const uint4* x, uint4* y, const uint* tables, const uint* keys, int n) {
  __shared__ uint s[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) s[k] = tables[k];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 v = x[i];
  uint w[4] = {v.x ^ keys[0], v.y ^ keys[1], v.z ^ keys[2], v.w ^ keys[3]};
  for (int round = 1; round <= 10; ++round) {
    uint u[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      u[k] = s[w[k] >> 24] ^ s[256 + (w[(k + 1) & 3] >> 16 & 255)] ^ s[512 + (w[(k + 2) & 3] >> 8 & 255)] ^
             s[768 + (w[(k + 3) & 3] & 255)] ^ keys[4 * round + k];
#pragma unroll
    for (int k = 0; k < 4; ++k) w[k] = u[k];
  }
  y[i] = make_uint4(w[0], w[1], w[2], w[3]);
}
// ChaCha's stream: 64 bytes a thread.
__device__ uint turned(uint v, int by) { return __funnelshift_l(v, v, by); }
__device__ void quarter(uint& a, uint& b, uint& c, uint& d) {
  a += b; d = turned(d ^ a, 16);
  c += d; b = turned(b ^ c, 12);
  a += b; d = turned(d ^ a, 8);
  c += d; b = turned(b ^ c, 7);
}
extern "C" __global__ void chacha_stream(const uint* key, uint4* y, uint nonce, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0], key[1], key[2], key[3],
                    key[4], key[5], key[6], key[7], (uint)i, 0, nonce, nonce ^ 0x5bd1e995};
  uint v[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) v[k] = start[k];
  for (int round = 0; round < 10; ++round) {
#pragma unroll
    for (int k = 0; k < 4; ++k) quarter(v[k], v[4 + k], v[8 + k], v[12 + k]);
#pragma unroll
    for (int k = 0; k < 4; ++k) quarter(v[k], v[4 + (k + 1) % 4], v[8 + (k + 2) % 4], v[12 + (k + 3) % 4]);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k)
    y[4 * i + k] = make_uint4(v[4 * k] + start[4 * k], v[4 * k + 1] + start[4 * k + 1], v[4 * k + 2] + start[4 * k + 2],
                              v[4 * k + 3] + start[4 * k + 3]);
}
// Dates of ten letters, 2026-11-21, become days since 1970-01-01; months and days out of range are cut to it.
extern "C" __global__ void read_dates(const char* text, int* days, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const char* p = text + 10LL * i;
  int year = 1000 * (p[0] - '0') + 100 * (p[1] - '0') + 10 * (p[2] - '0') + (p[3] - '0');
  int month = 10 * (p[5] - '0') + (p[6] - '0'), day = 10 * (p[8] - '0') + (p[9] - '0');
  month = min(max(month, 1), 12);
  day = min(max(day, 1), 31);
  year -= month <= 2;
  int era = year / 400, of_era = year % 400, of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  if (year < 0) { era = -1; of_era = year + 400; }
  days[i] = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}
// Lines, capital letters and characters of a text in UTF-8: what begins no character has 10 as its highest bits.
extern "C" __global__ void count_letters(const uint4* text, ull* counts, int n) {
  int found[3] = {};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 16; i += gridDim.x * blockDim.x) {
    uint4 v = text[i];
    uint w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      found[0] += __popc(__vcmpeq4(w[k], 0x0a0a0a0a)) / 8;
      found[1] += __popc(__vcmpgeu4(w[k], 0x41414141) & __vcmpleu4(w[k], 0x5a5a5a5a)) / 8;
      found[2] += __popc(__vcmpne4(w[k] & 0xc0c0c0c0, 0x80808080)) / 8;
    }
  }
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    for (int k = 16; k; k /= 2) found[c] += __shfl_down_sync(~0u, found[c], k);
    if ((threadIdx.x & 31) == 0) atomicAdd(&counts[c], (ull)found[c]);
  }
}
// Numbers of 64 bits from what each adds to the one before: 128 a warp, four a lane, from a start of their own.
extern "C" __global__ void decode_deltas(const ushort4* deltas, const ll* starts, longlong2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  if (4 * i >= n) return;
  ushort4 d = deltas[i];
  ll v[4] = {d.x, d.y, d.z, d.w};
#pragma unroll
  for (int k = 0; k < 4; ++k) v[k] = v[k] >> 1 ^ -(v[k] & 1);
#pragma unroll
  for (int k = 1; k < 4; ++k) v[k] += v[k - 1];
  ll s = v[3];
#pragma unroll
  for (int k = 1; k < 32; k *= 2) {
    ll below = __shfl_up_sync(~0u, s, k);
    if (lane >= k) s += below;
  }
  s += starts[i / 32] - v[3];
  y[2 * i] = make_longlong2(s + v[0], s + v[1]);
  y[2 * i + 1] = make_longlong2(s + v[2], s + v[3]);
}

// Whether keys may be in a Bloom filter: four bits each, until one is missing.
__device__ uint mixed(uint v) {
  v ^= v >> 16;
  v *= 0x85ebca6bu;
  v ^= v >> 13;
  v *= 0xc2b2ae35u;
  return v ^ v >> 16;
}
extern "C" __global__ void bloom_test(const uint* keys, const uint* filter, uchar* maybe, uint words, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint h = mixed(keys[i]), step = mixed(h) | 1;
  bool in = true;
  for (int k = 0; k < 4 && in; ++k, h += step) in = filter[__umulhi(h, words)] >> h % 31 & 1;
  maybe[i] = in;
}
// Where keys stand in a table of groups of 16 places with a tag of 7 bits each; a tag of 128 or more is a free place.
extern "C" __global__ void tag_probe(const uint* keys, const uint4* tags, const uchar* stored, int* places, uint groups,
                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint h = mixed(keys[i]), tag = (h & 127) * 0x01010101, group = __umulhi(h, groups), check = keys[i] & 3;
  int found = -1;
  for (int round = 0; round < 8 && found == -1; ++round) {
    uint4 v = tags[group];
    uint w[4] = {v.x, v.y, v.z, v.w}, vacant = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      vacant |= w[k] & 0x80808080;
      for (uint same = __vcmpeq4(w[k], tag) & 0x01010101; same; same &= same - 1) {
        int at = 16 * group + 4 * k + (__ffs(same) - 1) / 8;
        if (found == -1 && stored[at] == check) found = at;
      }
    }
    if (vacant && found == -1) found = -2;
    group = group + 1 == groups ? 0 : group + 1;
  }
  places[i] = found;
}
// Labels go along edges: each node keeps the least that it had or its neighbours have.
extern "C" __global__ void spread_labels(const int* a, const int* b, const int* labels, int* least, int edges) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= edges) return;
  int u = a[i], v = b[i], p = labels[u], q = labels[v];
  if (p < q) atomicMin(&least[v], p);
  if (q < p) atomicMin(&least[u], q);
}
// Common neighbours of two nodes whose lists of 16 are stored as distances: two lists are merged.
extern "C" __global__ void common_neighbours(const int* node, const uchar* apart, const uint4* lists, uchar* counts,
                                             int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  int u = node[i], v = u + apart[i], found = 0, p = 0, q = 0;
  const uchar *first = (const uchar*)(lists + u), *second = (const uchar*)(lists + v);
  int a = u + first[0], b = v + second[0];
  while (p < 16 && q < 16) {
    found += a == b;
    bool left = a <= b, right = b <= a;
    if (left && ++p < 16) a += first[p];
    if (right && ++q < 16) b += second[q];
  }
  counts[i] = (uchar)found;
}
// The best local alignment of two strings of 32 letters (Smith-Waterman): a warp a pair, a column a lane.
extern "C" __global__ void best_alignment(const char* x, const char* y, int* best, int pairs) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (i >= pairs) return;
  char mine = x[32 * i + lane], letters = y[32 * i + lane];
  int here = 0, last = 0, most = 0;
  for (int step = 0; step < 63; ++step) {
    int left = __shfl_up_sync(~0u, here, 1), corner = __shfl_up_sync(~0u, last, 1), row = step - lane;
    char other = __shfl_sync(~0u, letters, row & 31);
    if (lane == 0) left = corner = 0;
    int up = here;
    last = here;
    here = row < 0 || row > 31 ? 0 : max(max(0, corner + (mine == other ? 2 : -1)), max(left, up) - 1);
    most = max(most, here);
  }
#pragma unroll
  for (int k = 16; k; k /= 2) most = max(most, __shfl_xor_sync(~0u, most, k));
  if (lane == 0) best[i] = most;
}
