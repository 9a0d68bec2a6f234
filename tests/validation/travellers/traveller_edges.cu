// Travellers: graphs and sparse matrices (launches: launches.toml).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
using uchar = unsigned char;
using uint = unsigned int;

// Attention along the edges of a graph: node i has degree[i] edges (0 to 64) in its 64 places; an edge's score is the sum
// of what its ends say, a fifth of it below zero; the scores of a node become weights that sum to one.
struct Scores {
  const float *here, *there;
  __device__ float operator()(int node, int other) const {
    float s = here[node] + there[other];
    return s > 0 ? s : 0.2f * s;
  }
};
template <int width, class F> __device__ float among(float v, F both) {
#pragma unroll
  for (int k = width / 2; k > 0; k >>= 1) v = both(v, __shfl_xor_sync(0xffffffffu, v, k, width));
  return v;
}
struct Larger { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Sum { __device__ float operator()(float a, float b) const { return a + b; } };

// A node a thread; every score is made three times.
extern "C" __global__ void edges_thread(const int* other, const uchar* degree, const float* here, const float* there,
                                        float* weight, int nodes) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes) return;
  const Scores score{here, there};
  const int from = 64 * node, to = from + degree[node];
  float most = -INFINITY, sum = 0;
  for (int e = from; e < to; ++e) most = fmaxf(most, score(node, other[e]));
  for (int e = from; e < to; ++e) sum += __expf(score(node, other[e]) - most);
  for (int e = from; e < to; ++e) weight[e] = __expf(score(node, other[e]) - most) / sum;
}
// A node a warp.
extern "C" __global__ void edges_warp(const int* other, const uchar* degree, const float* here, const float* there,
                                      float* weight, int nodes) {
  const int node = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (node >= nodes) return;
  const Scores score{here, there};
  const int from = 64 * node + lane, to = 64 * node + degree[node];
  float most = -INFINITY, sum = 0;
  for (int e = from; e < to; e += 32) most = fmaxf(most, score(node, other[e]));
  most = among<32>(most, Larger());
  for (int e = from; e < to; e += 32) sum += __expf(score(node, other[e]) - most);
  sum = among<32>(sum, Sum());
  for (int e = from; e < to; e += 32) weight[e] = __expf(score(node, other[e]) - most) / sum;
}
// A node a warp, two edges a lane, which stay in registers.
extern "C" __global__ void edges_kept(const int2* other, const uchar* degree, const float* here, const float* there,
                                      float2* weight, int nodes) {
  const int node = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (node >= nodes) return;
  const Scores score{here, there};
  const int has = degree[node], at = 32 * node + lane;
  const bool first = 2 * lane < has, second = 2 * lane + 1 < has;
  float a = -INFINITY, b = -INFINITY;
  if (first) {
    const int2 ends = other[at];
    a = score(node, ends.x);
    if (second) b = score(node, ends.y);
  }
  const float most = among<32>(fmaxf(a, b), Larger());
  a = first ? __expf(a - most) : 0.0f;
  b = second ? __expf(b - most) : 0.0f;
  const float by = 1 / among<32>(a + b, Sum());
  if (first) weight[at] = make_float2(a * by, b * (second ? by : 0.0f));
}
// A node eight lanes, which have up to two pieces of four edges each.
extern "C" __global__ void edges_eights(const int4* other, const uchar* degree, const float* here, const float* there,
                                        float4* weight, int nodes) {
  const int node = (blockIdx.x * blockDim.x + threadIdx.x) >> 3, part = threadIdx.x & 7;
  const Scores score{here, there};
  const int has = node < nodes ? degree[node] : 0;
  float v[2][4], most = -INFINITY, sum = 0;
#pragma unroll
  for (int piece = 0; piece < 2; ++piece) {
    const int from = 4 * (part + 8 * piece);
    int4 ends = make_int4(0, 0, 0, 0);
    if (from < has) ends = other[16 * node + part + 8 * piece];
    const int each[4] = {ends.x, ends.y, ends.z, ends.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      v[piece][k] = from + k < has ? score(node, each[k]) : -INFINITY;
      most = fmaxf(most, v[piece][k]);
    }
  }
  most = among<8>(most, Larger());
#pragma unroll
  for (int e = 0; e < 8; ++e) sum += v[e / 4][e % 4] = has ? __expf(v[e / 4][e % 4] - most) : 0.0f;
  const float by = 1 / among<8>(sum, Sum());
#pragma unroll
  for (int piece = 0; piece < 2; ++piece)
    if (4 * (part + 8 * piece) < has)
      weight[16 * node + part + 8 * piece] =
          make_float4(v[piece][0] * by, v[piece][1] * by, v[piece][2] * by, v[piece][3] * by);
}

// y = m x, where x has 64 columns of halves, and a row of m as many numbers as count says, in 32 places.
__device__ void add_eight(float* sum, uint4 word, float by) {
  const __half2* pair = reinterpret_cast<const __half2*>(&word);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 v = __half22float2(pair[k]);
    sum[2 * k] += by * v.x;
    sum[2 * k + 1] += by * v.y;
  }
}
// A row a thread, eight columns at a time.
extern "C" __global__ void dense_thread(const int* column, const __half* value, const uchar* count, const uint4* x,
                                        float4* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int c = 0; c < 8; ++c) {
    float sum[8] = {};
    for (int k = 0; k < count[row]; ++k)
      add_eight(sum, x[8 * column[32 * row + k] + c], __half2float(value[32 * row + k]));
    y[16 * row + 2 * c] = make_float4(sum[0], sum[1], sum[2], sum[3]);
    y[16 * row + 2 * c + 1] = make_float4(sum[4], sum[5], sum[6], sum[7]);
  }
}
// An element of y a thread.
extern "C" __global__ void dense_element(const int* column, const __half* value, const uchar* count, const __half* x,
                                         float* y, int rows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, c = threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < count[row]; ++k)
    sum += __half2float(value[32 * row + k]) * __half2float(x[64 * column[32 * row + k] + c]);
  y[64 * row + c] = sum;
}
// A row a warp: each lane has an entry of the row, which all of them get in turn, and two columns.
extern "C" __global__ void dense_pairs(const int* column, const __half* value, const uchar* count, const __half2* x,
                                       float2* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  const int has = count[row];
  const int mine = lane < has ? column[32 * row + lane] : 0;
  const float weight = lane < has ? __half2float(value[32 * row + lane]) : 0.0f;
  float2 sum = make_float2(0, 0);
  for (int k = 0; k < has; ++k) {
    const float by = __shfl_sync(0xffffffffu, weight, k);
    const float2 v = __half22float2(x[32 * __shfl_sync(0xffffffffu, mine, k) + lane]);
    sum.x += by * v.x;
    sum.y += by * v.y;
  }
  y[32 * row + lane] = sum;
}
// A row eight lanes, eight columns each; four entries of each row on their way at a time.
extern "C" __global__ void dense_wide(const int4* column, const uint2* value, const uchar* count, const uint4* x,
                                      float4* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 3, part = threadIdx.x & 7;
  if (row >= rows) return;
  const int has = count[row];
  float sum[8] = {};
  for (int k = 0; k < has; k += 4) {
    const int4 c = column[8 * row + k / 4];
    const uint2 v = value[8 * row + k / 4];
    const __half* by = reinterpret_cast<const __half*>(&v);
    const uint4 a = x[8 * c.x + part], b = x[8 * c.y + part], d = x[8 * c.z + part], e = x[8 * c.w + part];
    add_eight(sum, a, __half2float(by[0]));
    add_eight(sum, b, k + 1 < has ? __half2float(by[1]) : 0.0f);
    add_eight(sum, d, k + 2 < has ? __half2float(by[2]) : 0.0f);
    add_eight(sum, e, k + 3 < has ? __half2float(by[3]) : 0.0f);
  }
  y[16 * row + 2 * part] = make_float4(sum[0], sum[1], sum[2], sum[3]);
  y[16 * row + 2 * part + 1] = make_float4(sum[4], sum[5], sum[6], sum[7]);
}

// All shortest ways of two steps: c = min(c, a + b), a row with a column; n x n numbers each.
extern "C" __global__ void tropic_plain(const int* a, const int* b, int* c, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int least = c[y * n + x];
  for (int k = 0; k < n; ++k) least = min(least, a[y * n + k] + b[k * n + x]);
  c[y * n + x] = least;
}
// Tiles of 32 x 32 in shared memory; four elements of a column a thread.
extern "C" __global__ void tropic_tile(const int* a, const int* b, int* c, int n) {
  __shared__ int left[32][32], right[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
  int least[4];
  for (int r = 0; r < 4; ++r) least[r] = c[(y + 8 * r) * n + x];
  for (int start = 0; start < n; start += 32) {
    for (int r = 0; r < 32; r += 8) {
      left[ty + r][tx] = a[(y + r) * n + start + tx];
      right[ty + r][tx] = b[(start + ty + r) * n + x];
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      for (int r = 0; r < 4; ++r) least[r] = min(least[r], left[ty + 8 * r][k] + right[k][tx]);
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) c[(y + 8 * r) * n + x] = least[r];
}
// 64 x 64 elements a block, 4 x 4 a thread, sixteen steps a tile; with `ahead`, the next tile comes while this one is used.
template <bool ahead> struct Tropic {
  const int *a, *b;
  int n, t, row, column;
  int4 p, q;
  __device__ void fetch(int start) {
    p = *reinterpret_cast<const int4*>(a + (row + t / 4) * n + start + 4 * (t % 4));
    q = *reinterpret_cast<const int4*>(b + (start + t / 16) * n + column + 4 * (t % 16));
  }
  __device__ void keep(int (*left)[68], int (*right)[64]) const {
    left[4 * (t % 4)][t / 4] = p.x;
    left[4 * (t % 4) + 1][t / 4] = p.y;
    left[4 * (t % 4) + 2][t / 4] = p.z;
    left[4 * (t % 4) + 3][t / 4] = p.w;
    *reinterpret_cast<int4*>(&right[t / 16][4 * (t % 16)]) = q;
  }
  __device__ void run(int* c) {
    __shared__ int left[1 + ahead][16][68], right[1 + ahead][16][64];
    const int x = 4 * (t % 16), y = 4 * (t / 16);
    int4 least[4];
    for (int r = 0; r < 4; ++r) least[r] = *reinterpret_cast<const int4*>(c + (row + y + r) * n + column + x);
    int now = 0;
    if (ahead) {
      fetch(0);
      keep(left[0], right[0]);
      __syncthreads();
    }
    for (int start = 0; start < n; start += 16) {
      const bool more = start + 16 < n;
      if (!ahead) {
        fetch(start);
        keep(left[0], right[0]);
        __syncthreads();
      } else if (more) {
        fetch(start + 16);
      }
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        const int4 u = *reinterpret_cast<const int4*>(&left[now][k][y]);
        const int4 v = *reinterpret_cast<const int4*>(&right[now][k][x]);
        const int each[4] = {u.x, u.y, u.z, u.w};
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          least[r].x = min(least[r].x, each[r] + v.x);
          least[r].y = min(least[r].y, each[r] + v.y);
          least[r].z = min(least[r].z, each[r] + v.z);
          least[r].w = min(least[r].w, each[r] + v.w);
        }
      }
      if (ahead) {
        now ^= 1;
        if (more) keep(left[now], right[now]);
      }
      __syncthreads();
    }
    for (int r = 0; r < 4; ++r) *reinterpret_cast<int4*>(c + (row + y + r) * n + column + x) = least[r];
  }
};
extern "C" __global__ void tropic_squares(const int* a, const int* b, int* c, int n) {
  Tropic<false> tile{a, b, n, (int)threadIdx.x, (int)blockIdx.y * 64, (int)blockIdx.x * 64};
  tile.run(c);
}
extern "C" __global__ void tropic_ahead(const int* a, const int* b, int* c, int n) {
  Tropic<true> tile{a, b, n, (int)threadIdx.x, (int)blockIdx.y * 64, (int)blockIdx.x * 64};
  tile.run(c);
}

// Products of rows of 64 bf16, for the pairs of rows that are asked for only; eight lanes a pair.
extern "C" __global__ void sampled_products(const int2* pairs, const uint4* left, const uint4* right, float* y, int n) {
  const int pair = (blockIdx.x * blockDim.x + threadIdx.x) >> 3, part = threadIdx.x & 7;
  if (pair >= n) return;
  const int2 who = pairs[pair];
  const uint4 a = left[8 * who.x + part], b = right[8 * who.y + part];
  const __nv_bfloat162 *p = reinterpret_cast<const __nv_bfloat162*>(&a), *q = reinterpret_cast<const __nv_bfloat162*>(&b);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 u = __bfloat1622float2(p[k]), v = __bfloat1622float2(q[k]);
    sum = fmaf(u.x, v.x, fmaf(u.y, v.y, sum));
  }
  sum = among<8>(sum, Sum());
  if (part == 0) y[pair] = sum;
}

// A round of colouring a graph: a node without colour (8 or more) that comes before all its neighbours without one takes
// the least that none of its neighbours has.  Twelve neighbours a node.
__device__ uint priority(uint node) {
  uint v = node * 0x9e3779b1u;
  v ^= v >> 15;
  return v * 0x85ebca6bu ^ v >> 13;
}
extern "C" __global__ void colour_step(const int4* neighbours, const uchar* colour, uchar* next, int nodes) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes) return;
  const uint mine = priority(node);
  uint taken = 0;
  bool waits = colour[node] < 8;
  for (int k = 0; k < 3 && !waits; ++k) {
    const int4 four = neighbours[3 * node + k];
    const int each[4] = {four.x, four.y, four.z, four.w};
    for (int e = 0; e < 4; ++e) {
      const int there = colour[each[e]];
      if (there < 8) {
        taken |= 1u << there;
      } else if (each[e] != node && priority(each[e]) >= mine) {
        waits = true;
        break;
      }
    }
  }
  next[node] = waits ? colour[node] : (uchar)(__ffs(~taken) - 1);
}
