// Ladders of data: one task, climbed in several ways (launches: launches.toml).
using uint = unsigned;
using uchar = unsigned char;
using ushort = unsigned short;

// Running sums along rows of 1024 numbers.  A thread a row.
extern "C" __global__ void running_thread(const int* x, int* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int s = 0;
  for (int k = 0; k < 1024; ++k) y[r * 1024 + k] = s += x[r * 1024 + k];
}
__device__ int up_to_lane(int v, int lane) {
  for (int k = 1; k < 32; k *= 2) {
    int below = __shfl_up_sync(~0u, v, k);
    if (lane >= k) v += below;
  }
  return v;
}
// A block a row: ten steps in shared memory, a barrier each.
extern "C" __global__ void running_steps(const int* x, int* y, int rows) {
  __shared__ int s[2][1024];
  int t = threadIdx.x, from = 0;
  s[0][t] = x[blockIdx.x * 1024 + t];
  for (int k = 1; k < 1024; k *= 2) {
    __syncthreads();
    s[1 - from][t] = s[from][t] + (t >= k ? s[from][t - k] : 0);
    from = 1 - from;
  }
  y[blockIdx.x * 1024 + t] = s[from][t];
}
// A warp a row: 32 numbers at a time by shuffles, and what came before.
extern "C" __global__ void running_warp(const int* x, int* y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31, before = 0;
  if (r >= rows) return;
  for (int k = lane; k < 1024; k += 32) {
    int s = up_to_lane(x[r * 1024 + k], lane) + before;
    y[r * 1024 + k] = s;
    before = __shfl_sync(~0u, s, 31);
  }
}
// A block a row: four numbers a thread, shuffles, and one barrier.
extern "C" __global__ void running_fours(const int4* x, int4* y, int rows) {
  __shared__ int sums[8];
  int t = threadIdx.x, lane = t & 31, warp = t / 32;
  int4 v = x[blockIdx.x * 256 + t];
  v.y += v.x; v.z += v.y; v.w += v.z;
  int s = up_to_lane(v.w, lane);
  if (lane == 31) sums[warp] = s;
  __syncthreads();
  s -= v.w;
  for (int k = 0; k < warp; ++k) s += sums[k];
  y[blockIdx.x * 256 + t] = make_int4(v.x + s, v.y + s, v.z + s, v.w + s);
}

// What was sold, by one of 256 groups, of which some are large: an atomic each.
__device__ int group(uchar a, uchar b) { return a * b >> 8; }

extern "C" __global__ void sold_global(const uchar* a, const uchar* b, const ushort* value, int* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[group(a[i], b[i])], (int)value[i]);
}
// A block adds up in shared memory.
extern "C" __global__ void sold_block(const uchar* a, const uchar* b, const ushort* value, int* sums, int n) {
  __shared__ int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&own[group(a[i], b[i])], (int)value[i]);
  __syncthreads();
  if (own[threadIdx.x]) atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);
}
// Each warp for itself.
extern "C" __global__ void sold_warp(const uchar* a, const uchar* b, const ushort* value, int* sums, int n) {
  __shared__ int own[8][256];
  for (int k = 0; k < 8; ++k) own[k][threadIdx.x] = 0;
  __syncthreads();
  int* mine = own[threadIdx.x / 32];
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&mine[group(a[i], b[i])], (int)value[i]);
  __syncthreads();
  int s = 0;
  for (int k = 0; k < 8; ++k) s += own[k][threadIdx.x];
  if (s) atomicAdd(&sums[threadIdx.x], s);
}
// Four a thread at once, of each warp for itself; neighbours of one group are added before.
extern "C" __global__ void sold_fours(const uchar4* a, const uchar4* b, const ushort4* value, int* sums, int n) {
  __shared__ int own[8][256];
  for (int k = 0; k < 8; ++k) own[k][threadIdx.x] = 0;
  __syncthreads();
  int* mine = own[threadIdx.x / 32];
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {
    uchar4 p = a[i], q = b[i];
    ushort4 v = value[i];
    int at[4] = {group(p.x, q.x), group(p.y, q.y), group(p.z, q.z), group(p.w, q.w)}, s[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (at[k] == at[k + 1]) s[k + 1] += s[k];
      else atomicAdd(&mine[at[k]], s[k]);
    atomicAdd(&mine[at[3]], s[3]);
  }
  __syncthreads();
  int s = 0;
  for (int k = 0; k < 8; ++k) s += own[k][threadIdx.x];
  if (s) atomicAdd(&sums[threadIdx.x], s);
}

// Numbers fetched by their places.  From anywhere.
extern "C" __global__ void fetch_anywhere(const int* x, const int* place, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[place[i]];
}
// From anywhere, four a thread.
extern "C" __global__ void fetch_fours(const int* x, const int4* place, int4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= n) return;
  int4 p = place[i];
  y[i] = make_int4(x[p.x], x[p.y], x[p.z], x[p.w]);
}
// From the 4096 around.
extern "C" __global__ void fetch_region(const int* x, const int* place, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[(i & ~4095) | (place[i] & 4095)];
}
// From the 32 around.
extern "C" __global__ void fetch_line(const int* x, const int* place, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[(i & ~31) | (place[i] & 31)];
}

// Records of 12 words, one after the other: the second becomes three times itself and the third where the first is odd.
extern "C" __global__ void records_structs(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && p[12 * i] & 1) p[12 * i + 1] = 3 * p[12 * i + 1] + p[12 * i + 2];
}
// The block brings its records to shared memory and back.
extern "C" __global__ void records_staged(int* p, int n) {
  __shared__ int own[12 * 256];
  int* from = p + 12 * 256 * blockIdx.x;
#pragma unroll
  for (int k = 0; k < 12; ++k) own[256 * k + threadIdx.x] = from[256 * k + threadIdx.x];
  __syncthreads();
  int* mine = own + 12 * threadIdx.x;
  if (mine[0] & 1) mine[1] = 3 * mine[1] + mine[2];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 12; ++k) from[256 * k + threadIdx.x] = own[256 * k + threadIdx.x];
}
// Groups of 32 records, word by word.
extern "C" __global__ void records_groups(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int* at = p + i / 32 * 384 + i % 32;
  if (i < n && at[0] & 1) at[32] = 3 * at[32] + at[64];
}
// An array for each word.
extern "C" __global__ void records_arrays(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && p[i] & 1) p[n + i] = 3 * p[n + i] + p[2 * n + i];
}

// A sparse matrix, with room for 16 entries a row and mostly few, times 8 columns.  A thread a row.
__device__ int entries(uchar v) { return 1 + (v * v >> 4); }

extern "C" __global__ void sparse_thread(const uchar* length, const int* column, const int* value, const int* x, int* y,
                                         int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int s[8] = {}, count = entries(length[r]);
  for (int k = 0; k < count; ++k) {
    int v = value[16 * r + k];
    const int4* from = (const int4*)&x[8 * column[16 * r + k]];
    int4 p = from[0], q = from[1];
    s[0] += v * p.x; s[1] += v * p.y; s[2] += v * p.z; s[3] += v * p.w;
    s[4] += v * q.x; s[5] += v * q.y; s[6] += v * q.z; s[7] += v * q.w;
  }
  *(int4*)&y[8 * r] = make_int4(s[0], s[1], s[2], s[3]);
  *(int4*)&y[8 * r + 4] = make_int4(s[4], s[5], s[6], s[7]);
}
// A warp a row: four entries at a time, a lane a column.
extern "C" __global__ void sparse_warp(const uchar* length, const int* column, const int* value, const int* x, int* y,
                                       int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (r >= rows) return;
  int s = 0, count = entries(length[r]);
  for (int k = lane / 8; k < count; k += 4) s += value[16 * r + k] * x[8 * column[16 * r + k] + lane % 8];
  s += __shfl_xor_sync(~0u, s, 8);
  s += __shfl_xor_sync(~0u, s, 16);
  if (lane < 8) y[8 * r + lane] = s;
}
// Eight lanes a row, a lane a column.
extern "C" __global__ void sparse_eights(const uchar* length, const int* column, const int* value, const int* x, int* y,
                                         int rows) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, r = t / 8;
  if (r >= rows) return;
  int s = 0, count = entries(length[r]);
  for (int k = 0; k < count; ++k) s += value[16 * r + k] * x[8 * column[16 * r + k] + t % 8];
  y[t] = s;
}

// A hash of each line of 64 letters.  A thread a line, letter by letter.
__device__ uint hashed(uint h, uint letter) { return (h ^ letter) * 16777619u; }

extern "C" __global__ void hash_letters(const uchar* text, uint* hash, int lines) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lines) return;
  uint h = 2166136261u;
  for (int k = 0; k < 64; ++k) h = hashed(h, text[64 * i + k]);
  hash[i] = h;
}
__device__ uint hashed_word(uint h, uint word) {
#pragma unroll
  for (int k = 0; k < 32; k += 8) h = hashed(h, word >> k & 255);
  return h;
}
// Sixteen letters at a time.
extern "C" __global__ void hash_vectors(const uint4* text, uint* hash, int lines) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lines) return;
  uint h = 2166136261u;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    uint4 v = text[4 * i + k];
    h = hashed_word(hashed_word(hashed_word(hashed_word(h, v.x), v.y), v.z), v.w);
  }
  hash[i] = h;
}
// The block brings 128 lines to shared memory, where they lie 17 words apart.
extern "C" __global__ void hash_staged(const uint* text, uint* hash, int lines) {
  __shared__ uint own[128 * 17];
  for (int k = threadIdx.x; k < 128 * 16; k += 128) own[k / 16 * 17 + k % 16] = text[blockIdx.x * 2048 + k];
  __syncthreads();
  uint h = 2166136261u;
#pragma unroll
  for (int k = 0; k < 16; ++k) h = hashed_word(h, own[17 * threadIdx.x + k]);
  hash[blockIdx.x * 128 + threadIdx.x] = h;
}
