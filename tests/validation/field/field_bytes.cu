// Kernels on text, bytes and bits, as people write them (launches: launches.toml).
#include <cuda_fp16.h>
using uint = unsigned;
using uchar = unsigned char;

// How often a word of m letters stands in a text of 4 letters.
extern "C" __global__ void find_word(const uchar* text, const uchar* word, uint* hits, int n, int m) {
  __shared__ uchar own[32];
  if (threadIdx.x < m) own[threadIdx.x] = word[threadIdx.x] & 3;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool equal = i + m <= n;
  for (int k = 0; equal && k < m; ++k) equal = (text[i + k] & 3) == own[k];
  uint votes = __ballot_sync(~0u, equal);
  if ((threadIdx.x & 31) == 0 && votes) atomicAdd(hits, (uint)__popc(votes));
}
// CRC-32 of records of different lengths with a table that the block makes.
extern "C" __global__ void crc_records(const uchar* data, const int* lengths, uint* crc, int each, int n) {
  __shared__ uint table[256];
  uint v = threadIdx.x;
  for (int k = 0; k < 8; ++k) v = v & 1 ? v >> 1 ^ 0xedb88320u : v >> 1;
  table[threadIdx.x] = v;
  __syncthreads();
  int r = blockIdx.x * 256 + threadIdx.x;
  if (r >= n) return;
  uint c = ~0u;
  for (int k = 0; k < lengths[r]; ++k) c = c >> 8 ^ table[(c ^ data[r * each + k]) & 255];
  crc[r] = ~c;
}
// SHA-256 of one block of 16 words a thread.
__constant__ uint sha_k[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
  0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
  0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
  0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
  0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
  0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__device__ uint turn(uint x, int n) { return __funnelshift_r(x, x, n); }
extern "C" __global__ void sha256_block(const uint* message, uint* digest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int k = 0; k < 16; ++k) w[k] = message[k * n + i];
  uint a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll 16
  for (int k = 0; k < 64; ++k) {
    if (k >= 16) {
      uint p = w[(k - 15) & 15], q = w[(k - 2) & 15];
      w[k & 15] += (turn(p, 7) ^ turn(p, 18) ^ p >> 3) + w[(k - 7) & 15] + (turn(q, 17) ^ turn(q, 19) ^ q >> 10);
    }
    uint t = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + sha_k[k] + w[k & 15];
    uint u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c);
    h = g; g = f; f = e; e = d + t; d = c; c = b; b = a; a = t + u;
  }
  uint out[8] = {a, b, c, d, e, f, g, h};
#pragma unroll
  for (int k = 0; k < 8; ++k) digest[k * n + i] = s[k] + out[k];
}
// Edit distance of a word of 32 letters and a text, a warp each: a diagonal a step, by shuffles.
extern "C" __global__ void edit_distance(const uchar* words, const uchar* texts, int* distance, int m, int n) {
  int p = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (p >= n) return;
  int letter = words[p * 32 + lane] & 3, here = lane + 1, last = lane;  // here: distance(lane + 1, j - 1)
  for (int step = 0; step < m + 31; ++step) {
    int j = step - lane;
    int above = __shfl_up_sync(~0u, here, 1);
    if (lane == 0) above = j + 1;
    if (j >= 0 && j < m) {
      int diagonal = last + ((texts[p * m + j] & 3) != letter);
      last = above;
      here = min(min(here, above) + 1, diagonal);
    }
    if (lane && j < 0) last = lane;
  }
  if (lane == 31) distance[p] = here;
}
// A machine for byte code: each thread runs the program on its own number, with a stack in local memory.
extern "C" __global__ void byte_machine(const uchar* program, const int* input, int* output, int length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[16] = {}, top = 0, x = input[i], steps = 0;
  stack[0] = x;
  for (int pc = 0; pc < length && steps < 400; ++steps) {
    int code = program[pc++] % 9;
    switch (code) {
      case 0: stack[(top + 1) & 15] = x; top = (top + 1) & 15; break;
      case 1: stack[top] += stack[(top - 1) & 15]; break;
      case 2: stack[top] ^= stack[(top - 1) & 15] << 3; break;
      case 3: x = stack[top] * 5 + 1; break;
      case 4: top = (top - 1) & 15; break;
      case 5: if (stack[top] & 1) pc += 1; break;
      case 6: stack[top] >>= 1; if (stack[top] > 40) pc = max(pc - 6, 0); break;
      case 7: stack[(x >> 2) & 15] = top; break;
      default: x -= stack[(top - 2) & 15];
    }
  }
  output[i] = x ^ stack[top] ^ steps << 20;
}
// Points in a tree of boxes on a line (an implicit binary tree): how many lie within reach, with a stack of one's own.
extern "C" __global__ void tree_walk(const float* keys, const float* queries, int* within, float reach, int nodes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[24], top = 0, count = 0;
  float q = queries[i] * nodes;
  stack[top++] = 1;
  while (top) {
    int node = stack[--top];
    if (node >= nodes) continue;
    int depth = 31 - __clz(node), width = nodes >> depth;
    float low = (float)(node - (1 << depth)) * width, high = low + width, at = low + width * 0.5f + keys[node];
    if (fabsf(at - q) <= reach) ++count;
    if (q + reach >= at && q - reach <= high) stack[top++] = 2 * node + 1;
    if (q - reach <= at && q + reach >= low) stack[top++] = 2 * node;
  }
  within[i] = count;
}
// Base 64: three bytes become four letters.
extern "C" __global__ void base_64(const uchar* x, uchar4* y, int triples) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= triples) return;
  uint v = x[3 * i] << 16 | x[3 * i + 1] << 8 | x[3 * i + 2];
  uchar out[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int d = v >> (18 - 6 * k) & 63;
    out[k] = d < 26 ? 'A' + d : d < 52 ? 'a' + d - 26 : d < 62 ? '0' + d - 52 : d == 62 ? '+' : '/';
  }
  y[i] = make_uchar4(out[0], out[1], out[2], out[3]);
}
// Colours to brightness and two differences, three bytes a point.
extern "C" __global__ void to_yuv(const uchar3* x, uchar* y, uchar* u, uchar* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar3 p = x[i];
  y[i] = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
  u[i] = ((-43 * p.x - 85 * p.y + 128 * p.z) >> 8) + 128;
  v[i] = ((128 * p.x - 107 * p.y - 21 * p.z) >> 8) + 128;
}
// Transposes of bytes, four at a time, of halves and of doubles.
extern "C" __global__ void turn_bytes(const uchar4* x, uchar4* y, int w) {
  __shared__ uchar s[64][68];
  int tx = threadIdx.x, ty = threadIdx.y;
  for (int j = ty; j < 64; j += 16) *(uchar4*)&s[j][4 * tx] = x[((blockIdx.y * 64 + j) * w + blockIdx.x * 64) / 4 + tx];
  __syncthreads();
  for (int j = ty; j < 64; j += 16)
    y[((blockIdx.x * 64 + j) * w + blockIdx.y * 64) / 4 + tx] =
        make_uchar4(s[4 * tx][j], s[4 * tx + 1][j], s[4 * tx + 2][j], s[4 * tx + 3][j]);
}
template <class T> __device__ void turned(const T* x, T* y, int w) {
  __shared__ T s[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) s[threadIdx.y + j][threadIdx.x] = x[(r + j) * w + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) y[(r + j) * w + c] = s[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void turn_halves(const unsigned short* x, unsigned short* y, int w) { turned(x, y, w); }
extern "C" __global__ void turn_doubles(const double* x, double* y, int w) { turned(x, y, w); }
extern "C" __global__ void axpy_halves(const __half2* x, __half2* y, float a, int n) {
  __half2 k = __float2half2_rn(a);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = __hfma2(k, x[i], y[i]);
}
// Product of matrices of bits: differing bits of two rows of k words.
extern "C" __global__ void bits_product(const uint4* a, const uint4* b, short* c, int n, int k) {
  __shared__ uint4 rows[16][9];
  int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty, sum = 0;
  for (int base = 0; base < k; base += 8) {
    if (tx < 8) rows[ty][tx] = a[row * k + base + tx];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      uint4 u = rows[ty][j], v = b[col * k + base + j];
      sum += __popc(u.x ^ v.x) + __popc(u.y ^ v.y) + __popc(u.z ^ v.z) + __popc(u.w ^ v.w);
    }
    __syncthreads();
  }
  c[row * n + col] = sum;
}
// The game of life on bits, 64 cells a thread, edges joined.
extern "C" __global__ void life_bits(const unsigned long long* x, unsigned long long* y, int words, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words * rows) return;
  int r = i / words, c = i % words;
  unsigned long long one = 0, two = 0, four = 0, me = x[i];
  for (int dr = -1; dr <= 1; ++dr) {
    const unsigned long long* row = x + (r + dr + rows) % rows * words;
    unsigned long long m = row[c], l = row[(c + words - 1) % words], h = row[(c + 1) % words];
    unsigned long long part[3] = {m << 1 | l >> 63, m, m >> 1 | h << 63};
    for (int k = 0; k < 3; ++k) {
      if (dr == 0 && k == 1) continue;
      unsigned long long v = part[k], t = one & v;
      one ^= v;
      four |= two & t;
      two ^= t;
    }
  }
  y[i] = two & ~four & (one | me);
}
