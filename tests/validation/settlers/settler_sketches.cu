// Settlers: sketches, digests, primes, cards and codes (launches: launches.toml).
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

// HyperLogLog: of each key's hash the upper 12 bits name a register, which keeps the longest run of zeros that the
// other bits began with.
namespace hll {
constexpr int P = 12;
constexpr int M = 1 << P;

__device__ __forceinline__ uint64_t hash(uint64_t k) {
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdULL;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53ULL;
  k ^= k >> 33;
  return k;
}
struct Update {
  int bucket;
  int rank;
};
__device__ __forceinline__ Update update_of(uint64_t key) {
  uint64_t h = hash(key);
  return {static_cast<int>(h >> (64 - P)), __clzll(static_cast<long long>((h << P) | (1ULL << (P - 1)))) + 1};
}
}  // namespace hll

extern "C" __global__ void hll_add_global(const uint64_t* keys, size_t n, int* registers) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  auto u = hll::update_of(keys[i]);
  atomicMax(registers + u.bucket, u.rank);
}

extern "C" __global__ void hll_add_shared(const uint64_t* keys, size_t n, int* registers) {
  __shared__ int local[hll::M];
  auto block = cg::this_thread_block();
  for (int i = block.thread_rank(); i < hll::M; i += block.size()) local[i] = 0;
  block.sync();
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    auto u = hll::update_of(keys[i]);
    atomicMax(local + u.bucket, u.rank);
  }
  block.sync();
  for (int i = block.thread_rank(); i < hll::M; i += block.size()) atomicMax(registers + i, local[i]);
}

// Four keys at once; a block begins its merge elsewhere than its neighbours, and registers that it never met stay.
extern "C" __global__ void __launch_bounds__(512) hll_add_wide(const uint64_t* keys, size_t n, int* registers) {
  __shared__ int local[hll::M];
  for (int i = threadIdx.x; i < hll::M; i += 512) local[i] = 0;
  __syncthreads();
  auto put = [](uint64_t key) {
    const auto u = hll::update_of(key);
    atomicMax(local + u.bucket, u.rank);
  };
  const ulonglong2* pairs = reinterpret_cast<const ulonglong2*>(keys);
  const size_t fours = n / 4, stride = size_t(gridDim.x) * 512, first = blockIdx.x * size_t(512) + threadIdx.x;
  for (size_t i = first; i < fours; i += stride) {
    const ulonglong2 a = __ldg(pairs + 2 * i), b = __ldg(pairs + 2 * i + 1);
    put(a.x), put(a.y), put(b.x), put(b.y);
  }
  if (first < n % 4) put(keys[4 * fours + first]);
  __syncthreads();
  for (int i = threadIdx.x; i < hll::M; i += 512) {
    const int at = (i + blockIdx.x * 512) % hll::M;
    if (local[at] > 0) atomicMax(registers + at, local[at]);
  }
}

// BLAKE2b with 32 bytes of digest, of messages of 128 bytes: one block each.
__device__ constexpr uint64_t kBlakeIV[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                             0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                             0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
__device__ constexpr uint8_t kSigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

__device__ __forceinline__ uint64_t rotr64(uint64_t w, unsigned c) { return (w >> c) | (w << (64 - c)); }

__device__ __forceinline__ void mix(uint64_t* v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
  v[a] = v[a] + v[b] + x;
  v[d] = rotr64(v[d] ^ v[a], 32);
  v[c] = v[c] + v[d];
  v[b] = rotr64(v[b] ^ v[c], 24);
  v[a] = v[a] + v[b] + y;
  v[d] = rotr64(v[d] ^ v[a], 16);
  v[c] = v[c] + v[d];
  v[b] = rotr64(v[b] ^ v[c], 63);
}

extern "C" __global__ void blake2b_128(const uint64_t* messages, uint64_t* digests, int count) {
  int idx = blockDim.x * blockIdx.x + threadIdx.x;
  if (idx >= count) return;
  uint64_t m[16], v[16], h[4];
#pragma unroll
  for (int i = 0; i < 16; i++) m[i] = messages[16 * (size_t)idx + i];
#pragma unroll
  for (int i = 0; i < 8; i++) {
    v[i] = kBlakeIV[i];
    v[i + 8] = kBlakeIV[i];
  }
  v[0] ^= 0x01010000 ^ 32;
#pragma unroll
  for (int i = 0; i < 4; i++) h[i] = v[i];
  v[12] ^= 128;
  v[14] = ~v[14];
#pragma unroll
  for (int r = 0; r < 12; r++) {
    const uint8_t* s = kSigma[r % 10];
    mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
    mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
    mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
    mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
    mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
    mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
    mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
    mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
  }
#pragma unroll
  for (int i = 0; i < 4; i++) digests[4 * (size_t)idx + i] = h[i] ^ v[i] ^ v[i + 8];
}

// Which odd numbers of 63 bits are primes, by Miller and Rabin's test in Montgomery form, with up to
// twelve primes.
class Montgomery {
  uint64_t n, inverse, one, square;

  __device__ uint64_t reduce(uint64_t high, uint64_t low) const {
    uint64_t q = low * inverse, m = __umul64hi(q, n);
    return high < m ? high - m + n : high - m;
  }

 public:
  __device__ explicit Montgomery(uint64_t modulus) : n(modulus) {
    uint64_t x = (3 * n) ^ 2;  // five bits
    for (int bits = 5; bits < 64; bits *= 2) x *= 2 - n * x;
    inverse = x;
    one = (~0ULL % n) + 1;
    if (one == n) one = 0;
    square = one;
    for (int k = 0; k < 64; ++k) {
      square += square;
      if (square >= n) square -= n;
    }
  }
  __device__ uint64_t times(uint64_t a, uint64_t b) const { return reduce(__umul64hi(a, b), a * b); }
  __device__ uint64_t enter(uint64_t a) const { return times(a % n, square); }
  __device__ uint64_t unit() const { return one; }
  __device__ uint64_t power(uint64_t base, uint64_t exponent) const {
    uint64_t result = one;
    while (exponent) {
      if (exponent & 1) result = times(result, base);
      base = times(base, base);
      exponent >>= 1;
    }
    return result;
  }
};

__constant__ unsigned witnesses[12] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

__device__ bool is_prime(uint64_t n, int rounds) {
  for (unsigned p : witnesses)
    if (n % p == 0) return n == p;
  Montgomery field(n);
  int twos = __ffsll(static_cast<long long>(n - 1)) - 1;
  uint64_t odd = (n - 1) >> twos, plus = field.unit(), minus = n - plus;
  for (int round = 0; round < rounds; ++round) {
    uint64_t x = field.power(field.enter(witnesses[round]), odd);
    if (x == plus || x == minus) continue;
    bool composite = true;
    for (int r = 1; r < twos && composite; ++r) {
      x = field.times(x, x);
      composite = x != minus;
    }
    if (composite) return false;
  }
  return true;
}

extern "C" __global__ void miller_rabin(const uint64_t* numbers, bool* prime, int rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) prime[i] = is_prime(numbers[i] >> 1 | 1, rounds);
}

// Hands of seven cards out of 52, dealt at random: how often each kind comes (0 nothing, 1 a pair ... 8 a straight
// flush).
struct XorShift {
  uint32_t s;
  __device__ explicit XorShift(uint32_t seed) : s(seed * 2654435761u + 1u) {
    if (s == 0) s = 0x9e3779b9u;
  }
  __device__ uint32_t operator()() {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
  }
};

__device__ int straight(uint32_t ranks) {
  ranks = ranks << 1 | (ranks >> 12 & 1);  // the ace is low too
  return (ranks & ranks >> 1 & ranks >> 2 & ranks >> 3 & ranks >> 4) != 0;
}

__device__ int classify(uint64_t cards) {
  const uint32_t mask = 0x1fff;
  uint32_t a = cards & mask, b = cards >> 13 & mask, c = cards >> 26 & mask, d = cards >> 39 & mask;
  uint32_t flush = __popc(a) >= 5 ? a : __popc(b) >= 5 ? b : __popc(c) >= 5 ? c : __popc(d) >= 5 ? d : 0;
  if (flush && straight(flush)) return 8;
  uint32_t any = a | b | c | d, four = a & b & c & d;
  if (four) return 7;
  uint32_t odd = a ^ b ^ c ^ d;                      // once or three times
  uint32_t three = ((a & b) | (c & d)) & ((a & c) | (b & d)) & odd;
  uint32_t two = any & ~odd;
  if (three && (two || __popc(three) > 1)) return 6;
  if (flush) return 5;
  if (straight(any)) return 4;
  if (three) return 3;
  return min(__popc(two), 2);
}

extern "C" __global__ void deal_poker(unsigned int* histogram, unsigned int seed, int hands) {
  __shared__ unsigned int counts[9];
  if (threadIdx.x < 9) counts[threadIdx.x] = 0;
  __syncthreads();
  XorShift rng(seed + blockIdx.x * blockDim.x + threadIdx.x);
  for (int h = 0; h < hands; ++h) {
    uint64_t cards = 0;
    for (int dealt = 0; dealt < 7;) {
      uint64_t card = 1ULL << __umulhi(rng(), 52u);
      if (cards & card) continue;
      cards |= card;
      ++dealt;
    }
    atomicAdd(&counts[classify(cards)], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 9) atomicAdd(&histogram[threadIdx.x], counts[threadIdx.x]);
}

// Letters become codes of up to 12 bits, 1,024 letters a block: four a thread, whose place comes from a scan; words are
// put together in shared memory.
constexpr int LETTERS = 1024, MOST = LETTERS * 12 / 32;
extern "C" __global__ void __launch_bounds__(256)
    encode_letters(const uchar4* letters, const uint16_t* codes, const uint8_t* lengths, uint32_t* words, int* bits,
                   int blocks) {
  __shared__ uint32_t table[256];
  __shared__ uint32_t out[MOST + 2];
  __shared__ int sums[8];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  table[t] = (codes[t] & ((1u << lengths[t]) - 1)) | uint32_t(lengths[t]) << 16;
  for (int b = blockIdx.x; b < blocks; b += gridDim.x) {
    for (int k = t; k < MOST + 2; k += 256) out[k] = 0;
    __syncthreads();
    const uchar4 four = letters[b * 256 + t];
    uint64_t mine = 0;
    int length = 0;
    auto append = [&](unsigned char letter) {
      uint32_t entry = table[letter];
      mine |= uint64_t(entry & 0xffff) << length;
      length += entry >> 16;
    };
    append(four.x), append(four.y), append(four.z), append(four.w);
    int upto = length;
#pragma unroll
    for (int offset = 1; offset < 32; offset <<= 1) {
      int other = __shfl_up_sync(0xffffffff, upto, offset);
      if (lane >= offset) upto += other;
    }
    if (lane == 31) sums[warp] = upto;
    __syncthreads();
    if (warp == 0) {
      int s = lane < 8 ? sums[lane] : 0;
      for (int offset = 1; offset < 8; offset <<= 1) {
        int other = __shfl_up_sync(0xffffffff, s, offset);
        if (lane >= offset) s += other;
      }
      if (lane < 8) sums[lane] = s;
    }
    __syncthreads();
    const int at = upto - length + (warp ? sums[warp - 1] : 0), word = at >> 5, shift = at & 31;
    const uint64_t low = mine << shift;
    atomicOr(&out[word], uint32_t(low));
    if (shift + length > 32) atomicOr(&out[word + 1], uint32_t(low >> 32));
    if (shift + length > 64) atomicOr(&out[word + 2], uint32_t(mine >> (64 - shift)));
    __syncthreads();
    const int total = sums[7];
    for (int k = t; k < (total + 31) / 32; k += 256) words[(size_t)b * MOST + k] = out[k];
    if (t == 0) bits[b] = total;
    __syncthreads();
  }
}
