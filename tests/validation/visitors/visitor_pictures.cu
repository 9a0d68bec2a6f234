// Visitors: pictures and colours, and numbers for each of many (launches: launches.toml).
using uint = unsigned;
using uchar = unsigned char;

// Squares of 8 x 8 bytes become cosines, divided by a table and rounded.  Eight threads a square: a row of it in
// registers, then a column, by way of shared memory.
__device__ void cosines(float* v) {
  const float c1 = 0.98078528f, c2 = 0.92387953f, c3 = 0.83146961f, c4 = 0.70710678f, c5 = 0.55557023f,
              c6 = 0.38268343f, c7 = 0.19509032f;
  float a = v[0] + v[7], b = v[1] + v[6], c = v[2] + v[5], d = v[3] + v[4];
  float e = v[0] - v[7], f = v[1] - v[6], g = v[2] - v[5], h = v[3] - v[4];
  v[0] = 0.5f * c4 * (a + b + c + d);
  v[4] = 0.5f * c4 * (a - b - c + d);
  v[2] = 0.5f * (c2 * (a - d) + c6 * (b - c));
  v[6] = 0.5f * (c6 * (a - d) - c2 * (b - c));
  v[1] = 0.5f * (c1 * e + c3 * f + c5 * g + c7 * h);
  v[3] = 0.5f * (c3 * e - c7 * f - c1 * g - c5 * h);
  v[5] = 0.5f * (c5 * e - c1 * f + c7 * g + c3 * h);
  v[7] = 0.5f * (c7 * e - c5 * f + c3 * g - c1 * h);
}
extern "C" __global__ void square_cosines(const uchar* x, const float* table, short* y, int w) {
  __shared__ float s[32][8][9];
  int t = threadIdx.x & 7, square = threadIdx.x / 8, u = (blockIdx.x * 32 + square) * 8, v = blockIdx.y * 8;
  uint2 word = *(const uint2*)(x + (v + t) * w + u);
  float p[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) p[k] = (float)((k < 4 ? word.x : word.y) >> 8 * (k & 3) & 255) - 128;
  cosines(p);
#pragma unroll
  for (int k = 0; k < 8; ++k) s[square][t][k] = p[k];
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 8; ++k) p[k] = s[square][k][t];
  cosines(p);
#pragma unroll
  for (int k = 0; k < 8; ++k) y[(v + k) * w + u + t] = (short)rintf(p[k] / table[8 * k + t]);
}

// A picture of brightness, and colours of half its size in pairs, becomes red, green and blue in three bytes a pixel;
// a thread has four pixels of two lines.
__device__ uint byte_of(int v) { return min(max(v >> 8, 0), 255); }
extern "C" __global__ void to_three_bytes(const uchar* light, const uchar* colour, uchar* y, int w) {
  int u = 4 * (blockIdx.x * blockDim.x + threadIdx.x), v = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
  uchar4 pairs = *(const uchar4*)(colour + v / 2 * w + u);
  int blue[2] = {pairs.x - 128, pairs.z - 128}, red[2] = {pairs.y - 128, pairs.w - 128};
#pragma unroll
  for (int line = 0; line < 2; ++line) {
    uint word = *(const uint*)(light + (v + line) * w + u), out[3] = {};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      int c = 298 * ((int)(word >> 8 * k & 255) - 16) + 128, b = blue[k / 2], r = red[k / 2];
      uint rgb[3] = {byte_of(c + 409 * r), byte_of(c - 100 * b - 208 * r), byte_of(c + 516 * b)};
#pragma unroll
      for (int j = 0; j < 3; ++j) out[(3 * k + j) / 4] |= rgb[j] << 8 * ((3 * k + j) % 4);
    }
    uint* to = (uint*)(y + 3 * ((v + line) * w + u));
#pragma unroll
    for (int j = 0; j < 3; ++j) to[j] = out[j];
  }
}

// A picture turned and stretched, by cubic pieces over 4 x 4 pixels; the edge goes on.
__device__ void cubic(float t, float* w) {
  w[0] = t * (-0.5f + t * (1 - 0.5f * t));
  w[1] = 1 + t * t * (1.5f * t - 2.5f);
  w[2] = t * (0.5f + t * (2 - 1.5f * t));
  w[3] = t * t * (0.5f * t - 0.5f);
}
extern "C" __global__ void turned_cubic(const float* x, float* y, float cosine, float sine, int w, int h) {
  int u = blockIdx.x * 32 + threadIdx.x, v = blockIdx.y * 8 + threadIdx.y;
  float a = cosine * (u - w / 2) - sine * (v - h / 2) + w / 2, b = sine * (u - w / 2) + cosine * (v - h / 2) + h / 2;
  float left = floorf(a), top = floorf(b), across[4], down[4], sum = 0;
  cubic(a - left, across);
  cubic(b - top, down);
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const float* line = x + min(max((int)top + q - 1, 0), h - 1) * w;
    float s = 0;
#pragma unroll
    for (int p = 0; p < 4; ++p) s += across[p] * line[min(max((int)left + p - 1, 0), w - 1)];
    sum += down[q] * s;
  }
  y[v * w + u] = sum;
}

// How often the grey values of two pictures come together, 64 x 64 kinds.
extern "C" __global__ void joint_bins(const uint* a, const uint* b, uint* bins, int n) {
  __shared__ uint s[4096];
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) s[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    uint p = a[i] >> 2 & 0x3f3f3f3f, q = b[i] >> 2 & 0x3f3f3f3f;
#pragma unroll
    for (int k = 0; k < 32; k += 8) atomicAdd(&s[(p >> k & 63) << 6 | (q >> k & 63)], 1u);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += blockDim.x)
    if (s[k]) atomicAdd(&bins[k], s[k]);
}

// Colours by a table of 33 x 33 x 33 colours, straight lines between them.
__device__ float4 between(float4 a, float4 b, float t) {
  return make_float4(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z), a.w + t * (b.w - a.w));
}
extern "C" __global__ void graded(const float4* x, const float4* table, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  float r = __saturatef(v.x) * 32, g = __saturatef(v.y) * 32, b = __saturatef(v.z) * 32;
  int ri = min((int)r, 31), gi = min((int)g, 31), bi = min((int)b, 31);
  const float4* at = table + (bi * 33 + gi) * 33 + ri;
  float4 line[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float4* from = at + (k & 1) * 33 + (k >> 1) * 1089;
    line[k] = between(from[0], from[1], r - ri);
  }
  float4 found = between(between(line[0], line[1], g - gi), between(line[2], line[3], g - gi), b - bi);
  found.w = v.w;
  y[i] = found;
}

// One step of a Kalman filter for each of n: place and speed in two dimensions, places measured.  `state` is an array
// of n for each of 4 numbers, `cov` for each of the 10 of a symmetric matrix, row by row from the diagonal on.
extern "C" __global__ void kalman_step(float* state, float* cov, const float* seen, float dt, float noise, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p[4][4], x[4];
  int k = 0;
#pragma unroll
  for (int a = 0; a < 4; ++a)
#pragma unroll
    for (int b = a; b < 4; ++b) p[a][b] = p[b][a] = cov[(size_t)n * k++ + i];
#pragma unroll
  for (int a = 0; a < 4; ++a) x[a] = state[(size_t)n * a + i];
  x[0] += dt * x[2];
  x[1] += dt * x[3];
#pragma unroll
  for (int b = 0; b < 4; ++b) { p[0][b] += dt * p[2][b]; p[1][b] += dt * p[3][b]; }
#pragma unroll
  for (int a = 0; a < 4; ++a) { p[a][0] += dt * p[a][2]; p[a][1] += dt * p[a][3]; p[a][a] += 0.01f; }
  float s00 = p[0][0] + noise, s11 = p[1][1] + noise, s01 = p[0][1], below = 1 / (s00 * s11 - s01 * s01);
  float off0 = seen[i] - x[0], off1 = seen[(size_t)n + i] - x[1], gain[4][2], rows[2][4];
#pragma unroll
  for (int a = 0; a < 4; ++a) {
    gain[a][0] = (p[a][0] * s11 - p[a][1] * s01) * below;
    gain[a][1] = (p[a][1] * s00 - p[a][0] * s01) * below;
    rows[0][a] = p[0][a];
    rows[1][a] = p[1][a];
    state[(size_t)n * a + i] = x[a] + gain[a][0] * off0 + gain[a][1] * off1;
  }
  k = 0;
#pragma unroll
  for (int a = 0; a < 4; ++a)
#pragma unroll
    for (int b = a; b < 4; ++b)
      cov[(size_t)n * k++ + i] = p[a][b] - gain[a][0] * rows[0][b] - gain[a][1] * rows[1][b];
}

// The volatility at which an option is worth what it costs (`extra` beyond spot less strike, or nothing): Newton's
// steps until they are small; the spot is 1.
extern "C" __global__ void implied_volatility(const float* strike, const float* years, const float* extra, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float k = strike[i], t = sqrtf(years[i]), cost = fmaxf(1 - k, 0.0f) + extra[i], v = 0.3f;
  for (int step = 0; step < 40; ++step) {
    float d = (-logf(k) + 0.5f * v * v * t * t) / (v * t), e = d - v * t;
    float price = 0.5f * erfcf(-d * 0.70710678f) - k * 0.5f * erfcf(-e * 0.70710678f);
    float slope = t * 0.39894228f * expf(-0.5f * d * d), change = (price - cost) / fmaxf(slope, 1e-3f);
    v = fminf(fmaxf(v - change, 0.01f), 4.0f);
    if (fabsf(change) < 1e-4f) break;
  }
  y[i] = v;
}
