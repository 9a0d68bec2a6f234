// Travellers: bytes, texts, tables and letters of life (launches: launches.toml).
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ull = unsigned long long;
constexpr uint every_lane = 0xffffffffu;

// Numbers of seven bits a byte, high ones first; the last byte of a number is below 128.  Pieces of 128 bytes, each with
// 128 places for its numbers; what has no end there is dropped.
struct Numbers {
  uint* to;
  uint value = 0;
  int count = 0;
  __device__ explicit Numbers(uint* start) : to(start) {}
  __device__ void see(uint byte) {
    value = value << 7 | (byte & 127);
    if (byte < 128) {
      to[count++] = value;
      value = 0;
    }
  }
};
// A piece a thread, byte by byte.
extern "C" __global__ void varint_thread(const uchar* x, uint* y, int* counts, int pieces) {
  const int piece = blockIdx.x * blockDim.x + threadIdx.x;
  if (piece >= pieces) return;
  Numbers numbers(y + 128 * piece);
  for (int k = 0; k < 128; ++k) numbers.see(x[128 * piece + k]);
  counts[piece] = numbers.count;
}
// A piece a thread, 16 bytes at a time.
extern "C" __global__ void varint_words(const uint4* x, uint* y, int* counts, int pieces) {
  const int piece = blockIdx.x * blockDim.x + threadIdx.x;
  if (piece >= pieces) return;
  Numbers numbers(y + 128 * piece);
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    const uint4 word = x[8 * piece + k];
    for (uint four : {word.x, word.y, word.z, word.w})
#pragma unroll
      for (int b = 0; b < 32; b += 8) numbers.see(four >> b & 255);
  }
  counts[piece] = numbers.count;
}
// A piece a warp, a byte a lane: who ends a number looks back for its bytes and counts the ends before it.
extern "C" __global__ void varint_warp(const uchar* x, uint* y, int* counts, int pieces) {
  const int piece = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (piece >= pieces) return;
  int count = 0;
  uint open = 0;  // what the lanes before lane 0 have begun
  for (int start = 0; start < 128; start += 32) {
    const uint byte = x[128 * piece + start + lane];
    const uint ends = __ballot_sync(every_lane, byte < 128), below = ends & ((1u << lane) - 1);
    const int first = below ? 32 - __clz(below) : 0;  // of this lane's number, in these 32
    uint value = byte & 127;
#pragma unroll
    for (int back = 1; back < 5; ++back) {
      const uint other = __shfl_up_sync(every_lane, byte, back);
      if (lane - back >= first) value |= (other & 127) << 7 * back;
    }
    if (!below && lane < 4) value |= open << 7 * (lane + 1);
    if (byte < 128) y[128 * piece + count + __popc(below)] = value;
    count += __popc(ends);
    open = __shfl_sync(every_lane, byte < 128 ? 0u : value, 31);
  }
  if (lane == 0) counts[piece] = count;
}

// A keyed hash of texts of up to 63 bytes in places of 64 (SipHash-2-4).
struct Sip {
  ull a, b, c, d;
  __device__ Sip(ull k, ull l)
      : a(k ^ 0x736f6d6570736575), b(l ^ 0x646f72616e646f6d), c(k ^ 0x6c7967656e657261), d(l ^ 0x7465646279746573) {}
  static __device__ ull turned(ull v, int by) { return v << by | v >> (64 - by); }
  __device__ void round() {
    a += b; b = turned(b, 13) ^ a; a = turned(a, 32);
    c += d; d = turned(d, 16) ^ c;
    a += d; d = turned(d, 21) ^ a;
    c += b; b = turned(b, 17) ^ c; c = turned(c, 32);
  }
  __device__ void take(ull word) {
    d ^= word;
    round();
    round();
    a ^= word;
  }
};
extern "C" __global__ void siphash_rows(const ull* texts, const uchar* lengths, const ull* keys, ull* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Sip hash(keys[0], keys[1]);
  const int length = lengths[i], whole = length / 8;
  for (int k = 0; k < whole; ++k) hash.take(texts[8 * i + k]);
  hash.take((ull)length << 56 | (texts[8 * i + whole] & ((1ull << 8 * (length % 8)) - 1)));
  hash.c ^= 255;
  for (int k = 0; k < 4; ++k) hash.round();
  y[i] = hash.a ^ hash.b ^ hash.c ^ hash.d;
}

// Four shards that can replace lost ones of ten: sums of products in the field of 256 numbers, eight bytes a thread.
__device__ uint doubled(uint four) { return (four & 0x7f7f7f7f) << 1 ^ (four >> 7 & 0x01010101) * 0x1d; }
extern "C" __global__ void parity_shards(const uint2* data, const uchar* factors, uint2* parity, int n) {
  __shared__ uchar by[40];
  if (threadIdx.x < 40) by[threadIdx.x] = factors[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint2 sum[4] = {};
  for (int shard = 0; shard < 10; ++shard) {
    uint2 v = data[(size_t)shard * n + i];
    uint f[4];
#pragma unroll
    for (int p = 0; p < 4; ++p) f[p] = by[10 * p + shard];
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const uint mask = -(f[p] >> bit & 1);
        sum[p].x ^= v.x & mask;
        sum[p].y ^= v.y & mask;
      }
      v = make_uint2(doubled(v.x), doubled(v.y));
    }
  }
#pragma unroll
  for (int p = 0; p < 4; ++p) parity[(size_t)p * n + i] = sum[p];
}

// Which texts of up to 32 letters are LIKE '%ab%c_d%'; a bit each.
__device__ bool like(const uchar* text, int length) {
  int k = 0;
  while (true) {
    if (k + 1 >= length) return false;
    if (text[k] == 'a' && text[k + 1] == 'b') break;
    ++k;
  }
  for (k += 2; k + 2 < length; ++k)
    if (text[k] == 'c' && text[k + 2] == 'd') return true;
  return false;
}
extern "C" __global__ void like_rows(const uchar* texts, const uchar* lengths, uint* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint found = __ballot_sync(every_lane, i < n && like(texts + 32 * i, lengths[i]));
  if (threadIdx.x % 32 == 0 && i < n) y[i / 32] = found;
}

// What was sold until a day, by one of six kinds: how often, how many, at what price, less discount, with tax.
struct Sales {
  ull often = 0, many = 0, price = 0, paid = 0, charged = 0;
  __device__ void add(int quantity, int asked, int discount, int tax) {
    const ull reduced = (ull)asked * (100 - discount);
    often += 1;
    many += quantity;
    price += asked;
    paid += reduced;
    charged += reduced * (100 + tax);
  }
};
__device__ void handed_in(ull v, ull* sum) {
  for (int k = 16; k > 0; k >>= 1) v += __shfl_xor_sync(every_lane, v, k);
  if (threadIdx.x % 32 == 0 && v) atomicAdd(sum, v);
}
extern "C" __global__ void sales_by_kind(const ushort* day, const uchar* kind, const uchar* quantity, const int* price,
                                         const uchar* discount, const uchar* tax, ull* sums, int last, int n) {
  Sales sales[6];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (day[i] > last) continue;
    const int which = kind[i], q = quantity[i], p = price[i], d = discount[i], t = tax[i];
#pragma unroll
    for (int k = 0; k < 6; ++k)
      if (which == k) sales[k].add(q, p, d, t);
  }
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    handed_in(sales[k].often, sums + 5 * k);
    handed_in(sales[k].many, sums + 5 * k + 1);
    handed_in(sales[k].price, sums + 5 * k + 2);
    handed_in(sales[k].paid, sums + 5 * k + 3);
    handed_in(sales[k].charged, sums + 5 * k + 4);
  }
}

// What was asked for a thing when it was sold: the last of its m quotes that is not later (an as-of join); 0 if none is.
extern "C" __global__ void quotes_as_of(const ushort* thing, const uint* time, const uint* quoted, const int* asked, int* y,
                                        int m, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint start = thing[i] * m, when = quoted[start] + time[i];
  uint low = start, high = start + m;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (quoted[middle] <= when) low = middle + 1;
    else high = middle;
  }
  y[i] = low > start ? asked[low - 1] : 0;
}

// Commas that stand outside of quotes, a bit each, and how many; pieces of 8192 bytes begin outside.
__device__ uint equal(uint four, uint letter) {  // a bit for each byte that is the letter
  const uint v = __vcmpeq4(four, letter * 0x01010101u);
  return (v & 1) | (v >> 7 & 2) | (v >> 14 & 4) | (v >> 21 & 8);
}
extern "C" __global__ void quoted_commas(const uint4* x, uint* y, int* counts) {
  __shared__ uint odd[8];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5, at = blockIdx.x * 256 + t;
  uint quotes = 0, commas = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint4 word = x[2 * at + half];
    const uint four[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      quotes |= equal(four[k], '"') << (16 * half + 4 * k);
      commas |= equal(four[k], ',') << (16 * half + 4 * k);
    }
  }
  uint inside = quotes;
#pragma unroll
  for (int k = 1; k < 32; k <<= 1) inside ^= inside << k;
  const uint turns = __ballot_sync(every_lane, __popc(quotes) & 1);
  if (lane == 0) odd[warp] = __popc(turns) & 1;
  __syncthreads();
  uint before = __popc(turns & ((1u << lane) - 1));
  for (int k = 0; k < warp; ++k) before += odd[k];
  if (before & 1) inside = ~inside;
  y[at] = commas &= ~inside;
  int found = __popc(commas);
  for (int k = 16; k > 0; k >>= 1) found += __shfl_xor_sync(every_lane, found, k);
  if (lane == 0) atomicAdd(&counts[blockIdx.x], found);
}

// In how many letters a pattern of 64 and a text of four letters differ, by bits (Myers); letter k of all stands together.
extern "C" __global__ void bit_distance(const uchar* patterns, const uchar* texts, const uchar* lengths, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ull where[4] = {};
  for (int k = 0; k < 64; ++k) {
    const int letter = patterns[(size_t)k * n + i];
#pragma unroll
    for (int l = 0; l < 4; ++l) where[l] |= (ull)(letter == l) << k;
  }
  ull up = ~0ull, down = 0;
  int score = 64;
  for (int k = 0; k < lengths[i]; ++k) {
    const int letter = texts[(size_t)k * n + i];
    const ull equal = letter < 2 ? (letter ? where[1] : where[0]) : (letter == 2 ? where[2] : where[3]);
    const ull level = (((equal & up) + up) ^ up) | equal | down;
    ull more = down | ~(level | up), less = up & level;
    score += (int)(more >> 63) - (int)(less >> 63);
    more = more << 1 | 1;
    less <<= 1;
    up = less | ~((equal | down) | more);
    down = more & (equal | down);
  }
  y[i] = score;
}

// The least of the hashes of ten pieces of 15 letters (of four) that follow each other, a piece and its reverse being the
// same; and where it stands.  256 places a block.
__device__ uint hashed(uint v) {
  v = (v ^ v >> 17) * 0xed5ad4bbu;
  v = (v ^ v >> 11) * 0xac4c1b51u;
  return v ^ v >> 15;
}
extern "C" __global__ void minimisers(const uchar* letters, uint* least, int* where, int n) {
  __shared__ uchar s[280];
  __shared__ uint hashes[265];
  const int t = threadIdx.x, from = blockIdx.x * 256;
  for (int k = t; k < 279; k += 256) s[k] = letters[from + k];
  __syncthreads();
  for (int k = t; k < 265; k += 256) {
    uint there = 0, back = 0;
    for (int e = 0; e < 15; ++e) {
      there = there << 2 | s[k + e];
      back |= (uint)(3 - s[k + e]) << 2 * e;
    }
    hashes[k] = hashed(min(there, back));
  }
  __syncthreads();
  uint best = hashes[t];
  int at = 0;
  for (int k = 1; k < 10; ++k)
    if (hashes[t + k] < best) {
      best = hashes[t + k];
      at = k;
    }
  least[from + t] = best;
  where[from + t] = from + t + at;
}
