// Wanderers: streams of codes, addresses, great numbers and samples (launches: launches.toml).
#include <cstdint>

// Letters from 32 interleaved rANS streams a warp (12 bits of probability, refilled by 16 bits), `steps` letters each.
// Blocks make the table from how often letters were counted: a slot's letter, how many slots that has, and which it is.
constexpr int slots = 4096, stride = 16;
extern "C" __global__ void __launch_bounds__(256)
    rans_warps(const uint16_t* streams, const uint16_t* counts, uint8_t* letters, int steps, int n) {
  __shared__ uint32_t table[slots];
  __shared__ unsigned upto[257];
  const int t = threadIdx.x, lane = t & 31;
  upto[t + 1] = counts[t];
  if (t == 0) upto[0] = 0;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    unsigned more = t + 1 > step ? upto[t + 1 - step] : 0;
    __syncthreads();
    upto[t + 1] += more;
    __syncthreads();
  }
  auto start = [&](int letter) { return upto[letter] * (slots - 256) / upto[256] + letter; };
  const unsigned mine = start(t), width = start(t + 1) - mine;
  for (unsigned k = 0; k < width; ++k) table[mine + k] = t | width << 8 | k << 20;
  __syncthreads();
  for (int s = blockIdx.x * 8 + t / 32; s < n; s += gridDim.x * 8) {
    const uint16_t* in = streams + (size_t)s * (steps + 2) * 32;
    uint8_t* out = letters + (size_t)s * steps * 32;
    uint32_t state = reinterpret_cast<const uint32_t*>(in)[lane] | 1 << 16;
    in += 64;
    for (int k = 0; k < steps; ++k) {
      const uint32_t slot = table[state % slots];
      out[32 * k + lane] = slot;
      state = (slot >> 8 & 4095) * (state / slots) + (slot >> 20);
      const bool low = state < 1 << 16;
      const unsigned want = __ballot_sync(~0u, low);
      if (low) state = state << 16 | in[__popc(want & ((1u << lane) - 1))];
      in += __popc(want);
    }
  }
}

// Where packets go: the upper half of an address finds a gate, or (numbers below `tables`) a table of 256 for the next
// byte, whose entries below 64 ask for one more byte.
struct Routes {
  const uint16_t *first, *second, *third;
  int tables;
  __device__ unsigned operator()(unsigned address) const {
    unsigned gate = first[address >> 16];
    if (gate >= tables) return gate;
    gate = second[256 * gate + (address >> 8 & 255)];
    return gate >= 64 ? gate : third[256 * gate + (address & 255)];
  }
};
extern "C" __global__ void routes(const uint4* addresses, const uint16_t* first, const uint16_t* second,
                                  const uint16_t* third, int tables, ushort4* gates, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  const Routes gate{first, second, third, tables};
  const uint4 four = addresses[at];
  gates[at] = make_ushort4(gate(four.x), gate(four.y), gate(four.z), gate(four.w));
}

// Numbers of 256 bits, squared again and again modulo 2^256 - 2^32 - 977 (the field of a curve).  The eight words of a
// number stand n apart.
struct Great {
  uint32_t w[8];
};
__device__ void add_product(uint32_t& low, uint64_t& carry, uint32_t a, uint32_t b) {
  carry += (uint64_t)a * b + low;
  low = carry;
  carry >>= 32;
}
__device__ Great times(const Great& a, const Great& b) {
  uint32_t wide[17] = {};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    uint64_t carry = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) add_product(wide[i + j], carry, a.w[i], b.w[j]);
    wide[i + 8] = carry;
  }
  // the upper half counts 2^32 + 977 times
  uint64_t carry = 0, left = 0;
  Great r;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    left += (uint64_t)wide[i] + (i ? wide[i + 7] : 0);
    uint32_t low = left;
    left >>= 32;
    add_product(low, carry, wide[i + 8], 977);
    r.w[i] = low;
  }
  uint64_t over = carry + left + wide[15];  // of 34 bits at most
#pragma unroll
  for (int again = 0; again < 2; ++again) {
    uint64_t sum = r.w[0] + (over & 0xffffffff) * 977;
    r.w[0] = sum;
    sum = (sum >> 32) + r.w[1] + over + (over >> 32) * 977;
    r.w[1] = sum;
    sum >>= 32;
#pragma unroll
    for (int i = 2; i < 8; ++i) {
      sum += r.w[i];
      r.w[i] = sum;
      sum >>= 32;
    }
    over = sum;
  }
  return r;
}
extern "C" __global__ void great_squares(uint32_t* numbers, int steps, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  Great v;
#pragma unroll
  for (int k = 0; k < 8; ++k) v.w[k] = numbers[k * n + at];
#pragma unroll 1
  for (int k = 0; k < steps; ++k) v = times(v, v);
  // what is still the modulus or more becomes less
  uint64_t sum = (uint64_t)v.w[0] + 977, lowest = sum & 0xffffffff;
  sum = (sum >> 32) + v.w[1] + 1;
  Great less{{(uint32_t)lowest, (uint32_t)sum}};
#pragma unroll
  for (int k = 2; k < 8; ++k) {
    sum = (sum >> 32) + v.w[k];
    less.w[k] = sum;
  }
  if (sum >> 32) v = less;
#pragma unroll
  for (int k = 0; k < 8; ++k) numbers[k * n + at] = v.w[k];
}

// Means and variances of samples drawn anew from m numbers, m draws each (the bootstrap); a sample a thread.
class Draws {
  uint32_t state;

 public:
  __device__ explicit Draws(uint32_t seed) : state(seed * 747796405u + 2891336453u) {}
  __device__ uint32_t below(uint32_t m) {
    state = state * 1664525u + 1013904223u;
    return __umulhi(state ^ state >> 15, m);
  }
};
extern "C" __global__ void drawn_anew(const float* x, int m, unsigned seed, float* means, float* variances, int n) {
  extern __shared__ float near[];
  for (int k = threadIdx.x; k < m; k += blockDim.x) near[k] = x[k];
  __syncthreads();
  for (int sample = blockIdx.x * blockDim.x + threadIdx.x; sample < n; sample += gridDim.x * blockDim.x) {
    Draws draws(seed + sample);
    float sum = 0, squares = 0;
#pragma unroll 4
    for (int k = 0; k < m; ++k) {
      const float v = near[draws.below(m)];
      sum += v;
      squares += v * v;
    }
    means[sample] = sum / m;
    variances[sample] = (squares - sum * sum / m) / (m - 1);
  }
}
