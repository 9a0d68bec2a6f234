// Grids and lattices as the known suites of benchmarks have them: stencils, tiles with halos, wave fronts.
// /// warplens
// [hotspot]
// grid = [5, 4]
// block = [16, 16]
// args = ["random:f32[4096](20,90)", "random:f32[4096](0,1)", "zeros:f32[4096]", "64", "2"]
// [pathfinder]
// grid = 7
// block = 128
// args = ["random:i32[16000](0,10)", "random:i32[800](0,10)", "zeros:i32[800]", "800", "8"]
// [needle]
// grid = 3
// block = 16
// args = ["random:i32[9801](-4,6)", "zeros:i32[9801]", "99", "2", "10"]
// [lud_diagonal]
// grid = 1
// block = 16
// args = ["random:f32[4096](1,3)", "64", "16"]
// [lud_perimeter]
// grid = 2
// block = 32
// args = ["random:f32[4096](1,3)", "64", "16"]
// [srad]
// grid = [4, 3]
// block = [16, 16]
// args = ["random:f32[3000](1,2)", "zeros:f32[3000]", "50", "60", "0.05f"]
// [gaussian_fan]
// grid = [6, 6]
// block = [16, 8]
// args = ["random:f32[3600](1,2)", "random:f32[60](1,2)", "random:f32[3600](0,1)", "60", "7"]
// [lattice_d2q9]
// grid = [3, 40]
// block = 32
// args = ["random:f32[27000](0.1,0.2)", "zeros:f32[27000]", "random:u8[3000](0,5)", "75", "40"]
// [fdtd_3d]
// grid = [2, 3]
// block = [32, 8]
// args = ["random:f32[26880]", "zeros:f32[26880]", "56", "24", "20"]
// [wavelet]
// grid = 5
// block = 128
// args = ["random:f32[1280]", "zeros:f32[1280]", "zeros:f32[5]"]
// [integral_rows]
// grid = 17
// block = 128
// args = ["random:u32[8704](0,255)", "zeros:u32[8704]", "512"]
// [stereo]
// grid = [4, 5]
// block = [32, 8]
// args = ["random:u32[5120]", "random:u32[5120]", "zeros:u32[5120]", "128", "40"]
// [recursive_filter]
// grid = 3
// block = 64
// args = ["random:u32[6400]", "zeros:u32[6400]", "160", "40"]
// [voxels]
// grid = 9
// block = 96
// args = ["random:f32[1000]", "zeros:u32[1000]", "zeros:u32[1000]", "10", "0.1f"]
// ///
extern "C" {

__global__ void hotspot(const float *t, const float *power, float *out, int n, int steps) {
  __shared__ float now[16][16], next[16][16];
  int inner = 16 - 2 * steps;
  int x = blockIdx.x * inner + threadIdx.x - steps, y = blockIdx.y * inner + threadIdx.y - steps;
  bool inside = x >= 0 && x < n && y >= 0 && y < n;
  float p = 0;
  if (inside) { now[threadIdx.y][threadIdx.x] = t[y * n + x]; p = power[y * n + x]; }
  __syncthreads();
  int lo_x = max(0, -(int)(blockIdx.x * inner - steps)), hi_x = min(15, n - 1 - (int)(blockIdx.x * inner) + steps);
  int lo_y = max(0, -(int)(blockIdx.y * inner - steps)), hi_y = min(15, n - 1 - (int)(blockIdx.y * inner) + steps);
  bool done = false;
  for (int s = 0; s < steps; s++) {
    done = false;
    if ((int)threadIdx.x >= s + 1 && (int)threadIdx.x <= 14 - s && (int)threadIdx.y >= s + 1
        && (int)threadIdx.y <= 14 - s && inside) {
      done = true;
      int north = max((int)threadIdx.y - 1, lo_y), south = min((int)threadIdx.y + 1, hi_y);
      int west = max((int)threadIdx.x - 1, lo_x), east = min((int)threadIdx.x + 1, hi_x);
      float c = now[threadIdx.y][threadIdx.x];
      next[threadIdx.y][threadIdx.x] = c + 0.1f * (p + (now[south][threadIdx.x] + now[north][threadIdx.x] - 2 * c) * 0.3f
          + (now[threadIdx.y][east] + now[threadIdx.y][west] - 2 * c) * 0.2f + (80.0f - c) * 0.01f);
    }
    __syncthreads();
    if (s == steps - 1) break;
    if (done) now[threadIdx.y][threadIdx.x] = next[threadIdx.y][threadIdx.x];
    __syncthreads();
  }
  if (done) out[y * n + x] = next[threadIdx.y][threadIdx.x];
}

__global__ void pathfinder(const int *wall, const int *first, int *out, int columns, int rows) {
  __shared__ int before[128], now[128];
  int tx = threadIdx.x, small = 128 - 2 * rows, x = blockIdx.x * small + tx - rows;
  bool valid = x >= 0 && x < columns;
  if (valid) before[tx] = first[x];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < rows; i++) {
    computed = false;
    if (tx > i && tx < 127 - i && valid) {
      computed = true;
      int left = x > 0 ? before[tx - 1] : 1 << 20, up = before[tx], right = x < columns - 1 ? before[tx + 1] : 1 << 20;
      now[tx] = min(min(left, up), right) + wall[i * columns + x];
    }
    __syncthreads();
    if (i == rows - 1) break;
    if (computed) before[tx] = now[tx];
    __syncthreads();
  }
  if (computed) out[x] = now[tx];
}

__global__ void needle(const int *similar, int *matrix, int width, int diagonal, int penalty) {
  __shared__ int t[17][17], r[16][16];
  int bx = blockIdx.x, by = diagonal - blockIdx.x, base = width * 16 * by + 16 * bx + threadIdx.x + width + 1;
  int tid = threadIdx.x;
  for (int k = 0; k < 16; k++) r[k][tid] = similar[base + k * width];
  if (tid == 0) t[0][0] = matrix[base - width - 1];
  t[tid + 1][0] = matrix[width * (16 * by + tid + 1) + 16 * bx];
  t[0][tid + 1] = matrix[base - width];
  __syncthreads();
  for (int m = 0; m < 16; m++) {
    if (tid <= m) {
      int x = tid + 1, y = m - tid + 1;
      t[y][x] = max(t[y - 1][x - 1] + r[y - 1][x - 1], max(t[y][x - 1], t[y - 1][x]) - penalty);
    }
    __syncthreads();
  }
  for (int m = 14; m >= 0; m--) {
    if (tid <= m) {
      int x = tid + 16 - m, y = 16 - tid;
      t[y][x] = max(t[y - 1][x - 1] + r[y - 1][x - 1], max(t[y][x - 1], t[y - 1][x]) - penalty);
    }
    __syncthreads();
  }
  for (int k = 0; k < 16; k++) matrix[base + k * width] = t[k + 1][tid + 1];
}

__global__ void lud_diagonal(float *m, int n, int at) {
  __shared__ float s[16][16];
  int tid = threadIdx.x, place = at * n + at;
  for (int i = 0; i < 16; i++) s[i][tid] = m[place + i * n + tid];
  __syncthreads();
  for (int i = 0; i < 15; i++) {
    if (tid > i) {
      for (int j = 0; j < i; j++) s[tid][i] -= s[tid][j] * s[j][i];
      s[tid][i] /= s[i][i];
    }
    __syncthreads();
    if (tid > i)
      for (int j = 0; j < i + 1; j++) s[i + 1][tid] -= s[i + 1][j] * s[j][tid];
    __syncthreads();
  }
  place += n;
  for (int i = 1; i < 16; i++, place += n) m[place + tid] = s[i][tid];
}

__global__ void lud_perimeter(float *m, int n, int at) {
  __shared__ float dia[16][16], row[16][16], col[16][16];
  int index = threadIdx.x & 15, place = at * n + at;
  if (threadIdx.x < 16) {
    for (int i = 0; i < 8; i++) dia[i][index] = m[place + i * n + index];
    for (int i = 0; i < 16; i++) row[i][index] = m[place + (blockIdx.x + 1) * 16 + i * n + index];
  } else {
    for (int i = 8; i < 16; i++) dia[i][index] = m[place + i * n + index];
    for (int i = 0; i < 16; i++) col[i][index] = m[place + (blockIdx.x + 1) * 16 * n + i * n + index];
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    for (int i = 1; i < 16; i++)
      for (int j = 0; j < i; j++) row[i][index] -= dia[i][j] * row[j][index];
  } else {
    for (int i = 0; i < 16; i++) {
      for (int j = 0; j < i; j++) col[index][i] -= col[index][j] * dia[j][i];
      col[index][i] /= dia[i][i];
    }
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    for (int i = 1; i < 16; i++) m[place + (blockIdx.x + 1) * 16 + i * n + index] = row[i][index];
  } else {
    for (int i = 0; i < 16; i++) m[place + (blockIdx.x + 1) * 16 * n + i * n + index] = col[i][index];
  }
}

__global__ void srad(const float *image, float *out, int rows, int columns, float q0) {
  __shared__ float tile[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int cx = min(x, columns - 1), cy = min(y, rows - 1), sx = threadIdx.x + 1, sy = threadIdx.y + 1;
  tile[sy][sx] = image[cy * columns + cx];
  if (threadIdx.x == 0) tile[sy][0] = image[cy * columns + max(cx - 1, 0)];
  if (threadIdx.x == 15) tile[sy][17] = image[cy * columns + min(cx + 1, columns - 1)];
  if (threadIdx.y == 0) tile[0][sx] = image[max(cy - 1, 0) * columns + cx];
  if (threadIdx.y == 15) tile[17][sx] = image[min(cy + 1, rows - 1) * columns + cx];
  __syncthreads();
  float c = tile[sy][sx], n = tile[sy - 1][sx] - c, s = tile[sy + 1][sx] - c, w = tile[sy][sx - 1] - c, e = tile[sy][sx + 1] - c;
  float g = (n * n + s * s + w * w + e * e) / (c * c), l = (n + s + w + e) / c;
  float num = 0.5f * g - (1.0f / 16.0f) * l * l, den = 1 + 0.25f * l, q = num / (den * den);
  den = (q - q0) / (q0 * (1 + q0));
  float k = 1.0f / (1.0f + den);
  if (k < 0) k = 0; else if (k > 1) k = 1;
  if (x < columns && y < rows) out[y * columns + x] = k;
}

__global__ void gaussian_fan(float *a, float *b, const float *factors, int n, int t) {
  if (blockIdx.x * blockDim.x + threadIdx.x >= n - 1 - t) return;
  if (blockIdx.y * blockDim.y + threadIdx.y >= n - t) return;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  a[n * (x + 1 + t) + y + t] -= factors[n * (x + 1 + t) + t] * a[n * t + y + t];
  if (y == 0) b[x + 1 + t] -= factors[n * (x + 1 + t) + t] * b[t];
}

__constant__ int EX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, EY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float WEIGHT[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
__global__ void lattice_d2q9(const float *f, float *out, const unsigned char *solid, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, cells = w * h;
  if (x >= w) return;
  float now[9], rho = 0, ux = 0, uy = 0;
  for (int k = 0; k < 9; k++) {
    int sx = (x - EX[k] + w) % w, sy = (y - EY[k] + h) % h;
    now[k] = f[k * cells + sy * w + sx];
    rho += now[k]; ux += now[k] * EX[k]; uy += now[k] * EY[k];
  }
  int here = y * w + x;
  if (solid[here] == 0) {
    const int back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
    for (int k = 0; k < 9; k++) out[back[k] * cells + here] = now[k];
    return;
  }
  ux /= rho; uy /= rho;
  float square = 1.5f * (ux * ux + uy * uy);
  for (int k = 0; k < 9; k++) {
    float cu = 3.0f * (EX[k] * ux + EY[k] * uy), equilibrium = WEIGHT[k] * rho * (1 + cu + 0.5f * cu * cu - square);
    out[k * cells + here] = now[k] + (equilibrium - now[k]) / 0.6f;
  }
}

__global__ __launch_bounds__(256) void fdtd_3d(const float *in, float *out, int w, int h, int depth) {
  const int R = 2;
  __shared__ float tile[8 + 2 * R][32 + 2 * R];
  int gx = blockIdx.x * 32 + threadIdx.x, gy = blockIdx.y * 8 + threadIdx.y, plane = w * h;
  bool valid = gx < w && gy < h, writes = gx >= R && gx < w - R && gy >= R && gy < h - R;
  float ahead[R], behind[R], current = 0;
  int at = gy * w + gx, from = at;
#pragma unroll
  for (int i = R - 2; i >= 0; i--) { if (valid) behind[i] = in[from]; from += plane; }
  if (valid) current = in[from];
  int to = from; from += plane;
#pragma unroll
  for (int i = 0; i < R; i++) { if (valid) ahead[i] = in[from]; from += plane; }
  int tx = threadIdx.x + R, ty = threadIdx.y + R;
  for (int z = 0; z < depth - 2 * R; z++) {
#pragma unroll
    for (int i = R - 1; i > 0; i--) behind[i] = behind[i - 1];
    behind[0] = current; current = ahead[0];
#pragma unroll
    for (int i = 0; i < R - 1; i++) ahead[i] = ahead[i + 1];
    if (valid) ahead[R - 1] = in[from];
    from += plane; to += plane;
    __syncthreads();
    if (threadIdx.y < R) {
      tile[threadIdx.y][tx] = gx < w && gy >= R ? in[to - R * w] : 0;
      tile[threadIdx.y + 8 + R][tx] = gx < w && gy + 8 < h ? in[to + 8 * w] : 0;
    }
    if (threadIdx.x < R) {
      tile[ty][threadIdx.x] = gy < h && gx >= R ? in[to - R] : 0;
      tile[ty][threadIdx.x + 32 + R] = gy < h && gx + 32 < w ? in[to + 32] : 0;
    }
    tile[ty][tx] = current;
    __syncthreads();
    float v = 0.5f * current;
#pragma unroll
    for (int i = 1; i <= R; i++)
      v += 0.1f / i * (ahead[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    if (writes) out[to] = v;
  }
}

__global__ void wavelet(const float *in, float *details, float *approximations) {
  __shared__ float s[256];
  int tid = threadIdx.x, base = blockIdx.x * 256, half = 128;
  s[tid] = in[base + tid]; s[tid + 128] = in[base + tid + 128];
  __syncthreads();
  const float R = 0.70710678f;
  int written = base;
  for (int level = 0; level < 8; level++) {
    float a = 0, d = 0;
    if (tid < half) { a = (s[2 * tid] + s[2 * tid + 1]) * R; d = (s[2 * tid] - s[2 * tid + 1]) * R; }
    __syncthreads();
    if (tid < half) { s[tid] = a; details[written + tid] = d; }
    written += half; half >>= 1;
    __syncthreads();
  }
  if (tid == 0) approximations[blockIdx.x] = s[0];
}

__global__ void integral_rows(const unsigned *in, unsigned *out, int width) {
  __shared__ unsigned sums[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const uint4 *row = (const uint4 *)(in + blockIdx.x * width);
  uint4 v = row[threadIdx.x];
  v.y += v.x; v.z += v.y; v.w += v.z;
  unsigned sum = v.w;
#pragma unroll
  for (int i = 1; i <= 16; i *= 2) {
    unsigned n = __shfl_up_sync(0xffffffff, sum, i);
    if (lane >= i) sum += n;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    unsigned w = lane < blockDim.x / 32 ? sums[lane] : 0;
    unsigned mask = (1u << (blockDim.x / 32)) - 1;
    if (lane < blockDim.x / 32) {
      for (int i = 1; i < blockDim.x / 32; i *= 2) {
        unsigned n = __shfl_up_sync(mask, w, i, blockDim.x / 32);
        if (lane >= i) w += n;
      }
      sums[lane] = w;
    }
  }
  __syncthreads();
  unsigned before = sum - v.w + (warp > 0 ? sums[warp - 1] : 0);
  v.x += before; v.y += before; v.z += before; v.w += before;
  ((uint4 *)(out + blockIdx.x * width))[threadIdx.x] = v;
}

__global__ void stereo(const unsigned *left, const unsigned *right, unsigned *out, int w, int h) {
  const int R = 4;
  __shared__ unsigned difference[8 + 2 * R][32 + 2 * R];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  unsigned best = 9999999, which = 0;
  for (int d = -7; d <= 0; d++) {
    for (int j = threadIdx.y; j < 8 + 2 * R; j += 8)
      for (int i = threadIdx.x; i < 32 + 2 * R; i += 32) {
        int gx = min(max((int)blockIdx.x * 32 + i - R, 0), w - 1), gy = min(max((int)blockIdx.y * 8 + j - R, 0), h - 1);
        unsigned a = left[gy * w + gx], b = right[gy * w + min(max(gx + d, 0), w - 1)];
        difference[j][i] = __vsadu4(a, b);
      }
    __syncthreads();
    unsigned cost = 0;
    for (int j = 0; j <= 2 * R; j++)
#pragma unroll
      for (int i = 0; i <= 2 * R; i++) cost += difference[threadIdx.y + j][threadIdx.x + i];
    if (cost < best) { best = cost; which = d + 8; }
    __syncthreads();
  }
  if (y < h && x < w) out[y * w + x] = which;
}

__device__ float4 unpack(unsigned c) {
  return make_float4((c & 0xff) / 255.0f, ((c >> 8) & 0xff) / 255.0f, ((c >> 16) & 0xff) / 255.0f, (c >> 24) / 255.0f);
}
__device__ unsigned pack(float4 v) {
  return (unsigned(__saturatef(v.w) * 255) << 24) | (unsigned(__saturatef(v.z) * 255) << 16)
       | (unsigned(__saturatef(v.y) * 255) << 8) | unsigned(__saturatef(v.x) * 255);
}
__global__ void recursive_filter(const unsigned *in, unsigned *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  in += x; out += x;
  float4 y = make_float4(0, 0, 0, 0);
  for (int i = 0; i < h; i++, in += w, out += w) {
    float4 c = unpack(*in);
    y = make_float4(y.x + 0.3f * (c.x - y.x), y.y + 0.3f * (c.y - y.y), y.z + 0.3f * (c.z - y.z), y.w + 0.3f * (c.w - y.w));
    *out = pack(y);
  }
  for (int i = h - 1; i >= 0; i--) {
    in -= w; out -= w;
    float4 c = unpack(*in), o = unpack(*out);
    y = make_float4(y.x + 0.3f * (c.x - y.x), y.y + 0.3f * (c.y - y.y), y.z + 0.3f * (c.z - y.z), y.w + 0.3f * (c.w - y.w));
    *out = pack(make_float4((o.x + y.x) / 2, (o.y + y.y) / 2, (o.z + y.z) / 2, (o.w + y.w) / 2));
  }
}

__global__ void voxels(const float *field, unsigned *cases, unsigned *triangles, int n, float level) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n - 1) * (n - 1) * (n - 1); i += gridDim.x * blockDim.x) {
    int m = n - 1, x = i % m, y = i / m % m, z = i / (m * m);
    unsigned which = 0;
    for (int c = 0; c < 8; c++)
      which |= unsigned(field[((z + (c >> 2)) * n + y + ((c >> 1) & 1)) * n + x + ((c ^ (c >> 1)) & 1)] < level) << c;
    cases[i] = which;
    if (which == 0 || which == 255) continue;
    unsigned edges = 0;
    for (int e = 0; e < 12; e++) {
      int a = e < 8 ? e : e - 8, b = e < 4 ? (e + 1) & 3 : e < 8 ? 4 + ((e + 1) & 3) : e - 4;
      if ((which >> a & 1) != (which >> b & 1)) edges++;
    }
    triangles[i] = edges > 2 ? edges - 2 : 0;
  }
}
}
