// Codes, ciphers, sequences and generators of numbers.
// /// warplens
// [huffman_decode]
// grid = 5
// block = 64
// args = ["random:u32[2600](0,4294967295)", "zeros:u8[10240]", "32"]
// [aes_rounds]
// grid = 4
// block = 96
// args = ["random:u32[1536](0,4294967295)", "random:u32[44](0,4294967295)", "random:u32[256](0,4294967295)", "zeros:u32[1536]"]
// [md5_search]
// grid = 8
// block = 128
// args = ["zeros:u32[8]", "1024", "0x3f"]
// [smith_waterman]
// grid = 5
// block = 32
// args = ["random:u8[1600](0,4)", "random:u8[500](0,4)", "zeros:i32[5]", "100"]
// [knapsack]
// grid = 3
// block = 128
// args = ["random:i32[120](1,40)", "random:i32[120](1,100)", "zeros:i32[3]", "40"]
// [viterbi]
// grid = 7
// block = 32
// args = ["random:f32[1024]", "random:f32[512]", "random:i32[210](0,16)", "zeros:u8[6720]", "zeros:i32[210]", "30"]
// [strings_kmp]
// grid = 4
// block = 128
// args = ["random:u8[16384](0,3)", "random:u8[8](0,3)", "zeros:i32[512]", "32"]
// [twister]
// grid = 2
// block = 224
// args = ["random:u32[1248](0,4294967295)", "zeros:u32[1248]"]
// [sobol]
// grid = [2, 6]
// block = 64
// args = ["random:u32[192](1,4294967295)", "zeros:f32[6000]", "1000"]
// ///
extern "C" {

__global__ void huffman_decode(const unsigned *bits, unsigned char *out, int symbols) {
  __shared__ unsigned char lengths[256], letters[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    int zeros = i ? __clz(i) - 24 : 8;
    lengths[i] = min(zeros + 1 + (zeros > 2), 8);
    letters[i] = zeros > 2 ? zeros * 2 + (i >> (6 - min(zeros, 6)) & 1) : zeros;
  }
  __syncthreads();
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned *mine = bits + id * 8;
  int at = 0;
  for (int s = 0; s < symbols; s++) {
    int word = at >> 5, shift = at & 31;
    unsigned window = __funnelshift_l(mine[word + 1], mine[word], shift) >> 24;
    out[id * symbols + s] = letters[window];
    at += lengths[window];
    if (at >= 224) break;
  }
}

__global__ void aes_rounds(const uint4 *in, const unsigned *key, const unsigned *table, uint4 *out) {
  __shared__ unsigned t[256], k[44];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) t[i] = table[i];
  if (threadIdx.x < 44) k[threadIdx.x] = key[threadIdx.x];
  __syncthreads();
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 s = in[id];
  s.x ^= k[0]; s.y ^= k[1]; s.z ^= k[2]; s.w ^= k[3];
#pragma unroll 2
  for (int r = 4; r < 40; r += 4) {
    auto mix = [&](unsigned a, unsigned b, unsigned c, unsigned d) {
      unsigned v = t[b >> 16 & 255], u = t[c >> 8 & 255], w = t[d & 255];
      return t[a >> 24] ^ __funnelshift_r(v, v, 8) ^ __funnelshift_r(u, u, 16) ^ __funnelshift_r(w, w, 24);
    };
    uint4 n = make_uint4(mix(s.x, s.y, s.z, s.w) ^ k[r], mix(s.y, s.z, s.w, s.x) ^ k[r + 1],
                         mix(s.z, s.w, s.x, s.y) ^ k[r + 2], mix(s.w, s.x, s.y, s.z) ^ k[r + 3]);
    s = n;
  }
  auto last = [&](unsigned a, unsigned b, unsigned c, unsigned d) {
    return (t[a >> 24] & 0xff000000) | (t[b >> 16 & 255] & 0xff0000) | (t[c >> 8 & 255] & 0xff00) | (t[d & 255] & 0xff);
  };
  out[id] = make_uint4(last(s.x, s.y, s.z, s.w) ^ k[40], last(s.y, s.z, s.w, s.x) ^ k[41],
                       last(s.z, s.w, s.x, s.y) ^ k[42], last(s.w, s.x, s.y, s.z) ^ k[43]);
}

__constant__ unsigned char SHIFTS[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
__global__ void md5_search(unsigned *found, unsigned count, unsigned mask) {
  unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= count) return;
  unsigned m[16] = {id, 0x80};
  m[14] = 32;
  unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  for (int i = 0; i < 64; i++) {
    unsigned f; int g;
    if (i < 16) { f = (b & c) | (~b & d); g = i; }
    else if (i < 32) { f = (d & b) | (~d & c); g = (5 * i + 1) & 15; }
    else if (i < 48) { f = b ^ c ^ d; g = (3 * i + 5) & 15; }
    else { f = c ^ (b | ~d); g = (7 * i) & 15; }
    unsigned k = 0x9e3779b9u * (i + 1), t = a + f + k + m[g];
    int s = SHIFTS[(i >> 4) * 4 + (i & 3)];
    a = d; d = c; c = b; b += __funnelshift_l(t, t, s);
  }
  a += 0x67452301;
  if ((a & mask) == 0) {
    unsigned slot = atomicInc(&found[0], 0xffff);
    atomicXor(&found[1], id * 0x01000193u);
    atomicMax(&found[2], id);
    if (slot == 0xffff) found[7] = 1;
  }
}

__global__ void smith_waterman(const unsigned char *targets, const unsigned char *queries, int *scores, int rows) {
  // a lane a column, values travel by shuffles along the wave front
  int lane = threadIdx.x;
  const unsigned char *target = targets + blockIdx.x * 320;
  int best = 0;
  unsigned char mine = target[lane];
  int h = 0, e = -10, f = -10, diagonal = 0;
  for (int step = 0; step < rows + 31; step++) {
    int up = __shfl_up_sync(~0u, h, 1), gap = __shfl_up_sync(~0u, f, 1), row = step - lane;
    if (lane == 0) { up = 0; gap = -10; }
    if (row >= 0 && row < rows) {
      int match = queries[blockIdx.x * rows + row] == mine ? 3 : -2;
      f = max(gap - 1, up - 4);
      e = max(e - 1, h - 4);
      int v = max(max(diagonal + match, 0), max(e, f));
      diagonal = up; h = v;
      best = max(best, v);
    } else diagonal = up;
  }
  best = __reduce_max_sync(~0u, best);
  if (lane == 0) scores[blockIdx.x] = best;
}

__global__ void knapsack(const int *weights, const int *values, int *best, int items) {
  __shared__ int now[2][400];
  for (int c = threadIdx.x; c < 400; c += blockDim.x) now[0][c] = 0;
  __syncthreads();
  int from = 0;
  for (int i = 0; i < items; i++) {
    int w = weights[blockIdx.x * items + i], v = values[blockIdx.x * items + i];
    for (int c = threadIdx.x; c < 400; c += blockDim.x)
      now[from ^ 1][c] = c >= w ? max(now[from][c], now[from][c - w] + v) : now[from][c];
    from ^= 1;
    __syncthreads();
  }
  if (threadIdx.x == 0) best[blockIdx.x] = now[from][399];
}

__global__ void viterbi(const float *move, const float *emit, const int *seen, unsigned char *back, int *path, int steps) {
  int state = threadIdx.x;
  const int *mine = seen + blockIdx.x * steps;
  unsigned char *from = back + blockIdx.x * steps * 32;
  float score = emit[state * 16 + mine[0]];
  for (int t = 1; t < steps; t++) {
    float best = -1e30f; int who = 0;
    for (int s = 0; s < 32; s++) {
      float other = __shfl_sync(~0u, score, s) + move[s * 32 + state];
      if (other > best) { best = other; who = s; }
    }
    score = best + emit[state * 16 + mine[t]];
    from[t * 32 + state] = who;
  }
  float top = score; int who = state;
  for (int o = 16; o; o >>= 1) {
    float s = __shfl_xor_sync(~0u, top, o); int w = __shfl_xor_sync(~0u, who, o);
    if (s > top || (s == top && w < who)) { top = s; who = w; }
  }
  __syncwarp();
  if (state == 0)
    for (int t = steps - 1; t >= 0; t--) { path[blockIdx.x * steps + t] = who; if (t) who = from[t * 32 + who]; }
}

__global__ void strings_kmp(const unsigned char *text, const unsigned char *word, int *hits, int piece) {
  __shared__ int fail[8];
  __shared__ unsigned char w[8];
  if (threadIdx.x < 8) w[threadIdx.x] = word[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    fail[0] = 0;
    for (int i = 1, k = 0; i < 5; i++) {
      while (k && w[k] != w[i]) k = fail[k - 1];
      if (w[k] == w[i]) k++;
      fail[i] = k;
    }
  }
  __syncthreads();
  int id = blockIdx.x * blockDim.x + threadIdx.x, end = min((id + 1) * piece + 4, 16384), found = 0;
  for (int i = id * piece, k = 0; i < end; i++) {
    unsigned char c = text[i];
    while (k && w[k] != c) k = fail[k - 1];
    if (w[k] == c) k++;
    if (k == 5) { found++; k = fail[k - 1]; }
  }
  hits[id] = found;
}

__global__ void twister(const unsigned *seed, unsigned *out) {
  __shared__ unsigned s[624];
  for (int i = threadIdx.x; i < 624; i += blockDim.x) s[i] = seed[blockIdx.x * 624 + i];
  __syncthreads();
  for (int part = 0; part < 624; part += 208) {
    int i = part + threadIdx.x;
    unsigned v = 0;
    bool mine = threadIdx.x < 208;
    if (mine) {
      unsigned y = (s[i] & 0x80000000) | (s[(i + 1) % 624] & 0x7fffffff);
      v = s[(i + 397) % 624] ^ (y >> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    __syncthreads();
    if (mine) s[i] = v;
    __syncthreads();
  }
  for (int i = threadIdx.x; i < 624; i += blockDim.x) {
    unsigned y = s[i];
    y ^= y >> 11; y ^= (y << 7) & 0x9d2c5680; y ^= (y << 15) & 0xefc60000; y ^= y >> 18;
    out[blockIdx.x * 624 + i] = y;
  }
}

__global__ void sobol(const unsigned *directions, float *out, int n) {
  __shared__ unsigned v[32];
  if (threadIdx.x < 32) v[threadIdx.x] = directions[32 * blockIdx.y + threadIdx.x];
  __syncthreads();
  int i0 = threadIdx.x + blockIdx.x * blockDim.x, stride = gridDim.x * blockDim.x;
  unsigned g = i0 ^ (i0 >> 1), x = 0, mask;
  for (int k = 0; k < __ffs(stride) - 1; k++) { mask = -(g & 1); x ^= mask & v[k]; g >>= 1; }
  if (i0 < n) out[blockIdx.y * n + i0] = (int)x * 2.3283064e-10f;
  unsigned log = __ffs(stride) - 2;
  for (int i = i0 + stride; i < n; i += stride) {
    x ^= v[log] ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
    out[blockIdx.y * n + i] = (int)x * 2.3283064e-10f;
  }
}
}
