// Travellers: parts of networks (launches: launches.toml).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>
using uchar = unsigned char;
using uint = unsigned int;
using ull = unsigned long long;
constexpr uint every_lane = 0xffffffffu;

template <class T, class F> __device__ T over_lanes(T v, F both) {
  for (int k = 16; k > 0; k >>= 1) v = both(v, __shfl_xor_sync(every_lane, v, k));
  return v;
}
__device__ float total(float v) { return over_lanes(v, [](float a, float b) { return a + b; }); }
__device__ float largest(float v) { return over_lanes(v, [](float a, float b) { return fmaxf(a, b); }); }

// Softmax backwards, dx = y (dy - sum of dy y), for rows of odd length: a warp a row, four rows a block.
template <typename T> struct Row {
  T* start;
  __device__ Row(T* all_rows, int row, int n) : start(all_rows + (size_t)row * n) {}
  __device__ float get(int c) const { return __bfloat162float(start[c]); }
};
extern "C" __global__ void softmax_back(const __nv_bfloat16* y, const __nv_bfloat16* dy, __nv_bfloat16* dx, int n) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const Row<const __nv_bfloat16> out(y, row, n), given(dy, row, n);
  float sum = 0;
  for (int c = threadIdx.x; c < n; c += 32) sum += out.get(c) * given.get(c);
  sum = total(sum);
  const Row<__nv_bfloat16> back(dx, row, n);
  for (int c = threadIdx.x; c < n; c += 32) back.start[c] = __float2bfloat16_rn(out.get(c) * (given.get(c) - sum));
}

// Mean and variance of each channel of many pictures: what each thread has seen is merged (Chan).  A block a channel.
struct Moments {
  float n, mean, squares;
  __device__ void see(float v) {
    n += 1;
    const float off = v - mean;
    mean += off / n;
    squares += off * (v - mean);
  }
  __device__ Moments with(Moments o) const {
    const float both = n + o.n, off = o.mean - mean, part = both > 0 ? o.n / both : 0.0f;
    return {both, mean + off * part, squares + o.squares + off * off * n * part};
  }
};
extern "C" __global__ void channel_stats(const float* x, float* mean, float* variance, int images, int plane) {
  __shared__ Moments kept[6];
  Moments mine{0, 0, 0};
  for (int image = 0; image < images; ++image) {
    const float* from = x + ((size_t)image * gridDim.x + blockIdx.x) * plane;
    for (int k = threadIdx.x; k < plane; k += blockDim.x) mine.see(from[k]);
  }
  for (int k = 16; k > 0; k >>= 1)
    mine = mine.with(Moments{__shfl_down_sync(every_lane, mine.n, k), __shfl_down_sync(every_lane, mine.mean, k),
                             __shfl_down_sync(every_lane, mine.squares, k)});
  if (threadIdx.x % 32 == 0) kept[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int k = 1; k < 6; ++k) mine = mine.with(kept[k]);
  mean[blockIdx.x] = mine.mean;
  variance[blockIdx.x] = mine.squares / mine.n;
}

// A word for each row of n scores, drawn by adding noise that a hash gives (Gumbel) and taking the largest.
__device__ float noise(uint row, uint c) {
  uint v = row * 0x9e3779b9u ^ c * 0x85ebca77u;
  v = (v ^ v >> 16) * 0x21f0aaadu;
  v = (v ^ v >> 15) * 0x735a2d97u;
  v ^= v >> 15;
  const float u = ((v >> 9) + 0.5f) * 1.1920929e-7f;
  return -logf(-logf(u));
}
extern "C" __global__ void gumbel_sample(const float* scores, int* word, float heat, int n) {
  struct Best {
    float score;
    int at;
    __device__ void meet(float s, int c) {
      if (s > score || (s == score && c < at)) { score = s; at = c; }
    }
  };
  __shared__ Best kept[4];
  const float* row = scores + (size_t)blockIdx.x * n;
  Best best{-INFINITY, n};
  for (int c = threadIdx.x; c < n; c += blockDim.x) best.meet(row[c] / heat + noise(blockIdx.x, c), c);
  for (int k = 16; k > 0; k >>= 1)
    best.meet(__shfl_xor_sync(every_lane, best.score, k), __shfl_xor_sync(every_lane, best.at, k));
  if (threadIdx.x % 32 == 0) kept[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 4; ++k) best.meet(kept[k].score, kept[k].at);
    word[blockIdx.x] = best.at;
  }
}

// Attention of new queries to keys and values in pages of 16 places, which a table finds; four queries share four
// kinds of keys of 64 bf16 (grouped queries).  A block a sequence and kind, a warp a query; softmax page by page.
extern "C" __global__ void paged_attention(const __nv_bfloat162* q, const uint4* keys, const __nv_bfloat162* values,
                                           const int* table, const int* lengths, float2* y, int pages) {
  __shared__ float2 asked[4][32];
  const int sequence = blockIdx.x, kind = blockIdx.y, warp = threadIdx.y, lane = threadIdx.x;
  const int head = (sequence * 4 + kind) * 4 + warp, length = lengths[sequence];
  asked[warp][lane] = __bfloat1622float2(q[head * 32 + lane]);
  __syncwarp();
  float most = -INFINITY, sum = 0;
  float2 out = make_float2(0, 0);
  for (int page = 0; 16 * page < length; ++page) {
    const size_t at = ((size_t)table[sequence * pages + page] * 4 + kind) * 16;  // a row of 64 each
    const int place = lane >> 1, half = lane & 1;
    float score = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint4 word = keys[(at + place) * 8 + 4 * half + k];
      const __nv_bfloat162* pair = reinterpret_cast<const __nv_bfloat162*>(&word);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float2 v = __bfloat1622float2(pair[e]), u = asked[warp][16 * half + 4 * k + e];
        score = fmaf(v.x, u.x, fmaf(v.y, u.y, score));
      }
    }
    score = 0.125f * (score + __shfl_xor_sync(every_lane, score, 1));
    if (16 * page + place >= length) score = -INFINITY;
    const float now = fmaxf(most, largest(score)), less = __expf(most - now), weight = __expf(score - now);
    sum = sum * less + 0.5f * total(weight);
    out.x *= less;
    out.y *= less;
#pragma unroll 8
    for (int k = 0; k < 16; ++k) {
      const float by = __shfl_sync(every_lane, weight, 2 * k);
      const float2 v = __bfloat1622float2(values[(at + k) * 32 + lane]);
      out.x = fmaf(by, v.x, out.x);
      out.y = fmaf(by, v.y, out.y);
    }
    most = now;
  }
  y[head * 32 + lane] = make_float2(out.x / sum, out.y / sum);
}

// Groups of 128 bf16 become eight bits each (E4M3) and a scale; a warp a group.
extern "C" __global__ void to_e4m3(const uint2* x, __nv_fp8x4_e4m3* y, float* scales) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const uint2 word = x[at];
  const float2 a = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(word.x));
  const float2 b = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(word.y));
  const float most = largest(fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(b.x), fabsf(b.y))));
  const float by = 448 / most;
  y[at] = __nv_fp8x4_e4m3(make_float4(a.x * by, a.y * by, b.x * by, b.y * by));
  if (threadIdx.x % 32 == 0) scales[at / 32] = most / 448;
}

// What lies in boxes of a picture of 64 channels: 7 x 7 cells a box, each the mean of four places between pixels.
struct Picture {
  const float* x;
  int w, h;
  __device__ float at(float u, float v, int c) const {
    u = fminf(fmaxf(u, 0.0f), w - 1.0f);
    v = fminf(fmaxf(v, 0.0f), h - 1.0f);
    const int x0 = (int)u, y0 = (int)v, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
    const float fx = u - x0, fy = v - y0;
    const float top = x[(y0 * w + x0) * 64 + c] * (1 - fx) + x[(y0 * w + x1) * 64 + c] * fx;
    const float bottom = x[(y1 * w + x0) * 64 + c] * (1 - fx) + x[(y1 * w + x1) * 64 + c] * fx;
    return top * (1 - fy) + bottom * fy;
  }
};
extern "C" __global__ void boxes_aligned(const float* x, const float2* corner, const float2* extent, float* y, int w,
                                         int h) {
  const Picture picture{x, w, h};
  const float2 from = corner[blockIdx.x], size = extent[blockIdx.x];
  const float du = size.x / 7, dv = size.y / 7;
  for (int cell = threadIdx.y; cell < 49; cell += blockDim.y) {
    float sum = 0;
    for (int s = 0; s < 4; ++s)
      sum += picture.at(from.x + du * (cell % 7 + 0.25f + 0.5f * (s & 1)), from.y + dv * (cell / 7 + 0.25f + 0.5f * (s >> 1)),
                        threadIdx.x);
    y[(blockIdx.x * 49 + cell) * 64 + threadIdx.x] = 0.25f * sum;
  }
}

// Which later boxes cover more than half of what a box and they cover together: 64 boxes against 64 a block, a bit each.
struct Box {
  int left, top, right, bottom;
  __device__ int area() const { return (right - left) * (bottom - top); }
  __device__ int common(const Box& o) const {
    const int w = min(right, o.right) - max(left, o.left), h = min(bottom, o.bottom) - max(top, o.top);
    return w > 0 && h > 0 ? w * h : 0;
  }
};
__device__ Box box(ushort2 corner, ushort2 size) {
  return {corner.x, corner.y, corner.x + size.x, corner.y + size.y};
}
extern "C" __global__ void overlap_masks(const ushort2* corners, const ushort2* sizes, ull* masks, int n) {
  if (blockIdx.x < blockIdx.y) return;
  __shared__ Box others[64];
  const int t = threadIdx.x, mine = blockIdx.y * 64 + t, first = blockIdx.x * 64;
  if (first + t < n) others[t] = box(corners[first + t], sizes[first + t]);
  __syncthreads();
  if (mine >= n) return;
  const Box here = box(corners[mine], sizes[mine]);
  ull mask = 0;
  for (int k = max(0, mine + 1 - first); k < min(64, n - first); ++k) {
    const int both = here.common(others[k]);
    if (3 * both > here.area() + others[k].area()) mask |= 1ull << k;
  }
  masks[(size_t)mine * gridDim.x + blockIdx.x] = mask;
}

// Pictures of 56 x 56 pixels of 96 halves are moved by three pixels and cut into windows of 7 x 7; 16 bytes a thread.
extern "C" __global__ void shift_windows(const uint4* x, uint4* y) {
  const uint i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint part = i % 12, pixel = i / 12;
  const uint image = pixel / 3136, in_image = pixel % 3136, window = in_image / 49, in_window = in_image % 49;
  const uint row = (window / 8 * 7 + in_window / 7 + 3) % 56, column = (window % 8 * 7 + in_window % 7 + 3) % 56;
  y[i] = x[((size_t)image * 3136 + row * 56 + column) * 12 + part];
}

// A step of Adagrad for the rows of a table that a batch has seen; one sum of squares a row, a row a warp.
extern "C" __global__ void adagrad_rows(const int* rows, const float2* gradient, float* squares, float2* table, float rate,
                                        int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (i >= n) return;
  const int row = rows[i];
  const float2 g = gradient[i * 32 + lane];
  const float now = squares[row] + total(g.x * g.x + g.y * g.y) * (1.0f / 64);
  const float by = rate / (sqrtf(now) + 1e-8f);
  float2 v = table[(size_t)row * 32 + lane];
  v.x -= by * g.x;
  v.y -= by * g.y;
  table[(size_t)row * 32 + lane] = v;
  if (lane == 0) squares[row] = now;
}

// Products of rows with the matrix of the expert that 64 rows of them share: 64 x 64 elements a block of four warps.
extern "C" __global__ void expert_products(const __half* x, const __half* experts, const int* expert, float* y, int n, int k) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) __half left[64][48], right[32][80];
  const int t = threadIdx.x, warp = t / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
  const __half* by = experts + (size_t)expert[blockIdx.y] * k * n;
  fragment<accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& line : sum)
    for (auto& one : line) fill_fragment(one, 0.0f);
  for (int start = 0; start < k; start += 32) {
    for (int e = t; e < 256; e += 128) {
      *reinterpret_cast<uint4*>(&left[e / 4][e % 4 * 8]) =
          *reinterpret_cast<const uint4*>(x + (size_t)(row + e / 4) * k + start + e % 4 * 8);
      *reinterpret_cast<uint4*>(&right[e / 8][e % 8 * 8]) =
          *reinterpret_cast<const uint4*>(by + (size_t)(start + e / 8) * n + column + e % 8 * 8);
    }
    __syncthreads();
    for (int step = 0; step < 32; step += 16) {
      fragment<matrix_a, 16, 16, 16, __half, row_major> a[2];
      fragment<matrix_b, 16, 16, 16, __half, row_major> b[2];
      for (int p = 0; p < 2; ++p) {
        load_matrix_sync(a[p], &left[warp / 2 * 32 + 16 * p][step], 48);
        load_matrix_sync(b[p], &right[step][warp % 2 * 32 + 16 * p], 80);
      }
      for (int p = 0; p < 2; ++p)
        for (int q = 0; q < 2; ++q) mma_sync(sum[p][q], a[p], b[q], sum[p][q]);
    }
    __syncthreads();
  }
  for (int p = 0; p < 2; ++p)
    for (int q = 0; q < 2; ++q)
      store_matrix_sync(y + (size_t)(row + warp / 2 * 32 + 16 * p) * n + column + warp % 2 * 32 + 16 * q, sum[p][q], n,
                        mem_row_major);
}

// How likely 31 letters are, given what each of `steps` steps says of 32 (CTC): a warp a text, a gap and a letter a lane.
__device__ float log_sum(float a, float b) {
  const float high = fmaxf(a, b), low = fminf(a, b);
  return low < -1e29f ? high : high + log1pf(expf(low - high));
}
extern "C" __global__ void ctc_forward(const float* said, const uchar* letters, float* y, int steps) {
  const int text = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  const int letter = lane < 31 ? letters[text * 31 + lane] : 0;
  const int before = __shfl_up_sync(every_lane, letter, 1);
  const bool may_skip = lane > 0 && lane < 31 && letter != before;
  const float* row = said + (size_t)text * steps * 32;
  float heard = row[lane];
  float gap = lane == 0 ? heard : -1e30f, mine = -1e30f;
  const float first = __shfl_sync(every_lane, heard, letter);
  if (lane == 0) mine = first;
  for (int step = 1; step < steps; ++step) {
    heard = row[step * 32 + lane];
    const float of_gap = __shfl_sync(every_lane, heard, 0), of_letter = __shfl_sync(every_lane, heard, letter);
    float left = __shfl_up_sync(every_lane, mine, 1);
    if (lane == 0) left = -1e30f;
    float next = log_sum(mine, gap);
    if (may_skip) next = log_sum(next, left);
    gap = log_sum(gap, left) + of_gap;
    mine = lane < 31 ? next + of_letter : -1e30f;
  }
  const float last = __shfl_sync(every_lane, mine, 30);
  if (lane == 31) y[text] = -log_sum(gap, last);
}
