// Pairs for rules whose fault no lab has: the first kernel of each has it, the second does not.
// /// warplens
// n = 33792
// [histogram]
// grid = "n / 256"
// block = 256
// args = ["random(0, 4) i32[n]", "zeros i32[n]"]
// [own_bins]
// grid = "n / 256"
// block = 256
// args = ["random(0, 4) i32[n]", "zeros i32[n]"]
// [double_literals]
// grid = "n / 256"
// block = 256
// args = ["random f32[n]", "zeros f32[n]"]
// [float_literals]
// grid = "n / 256"
// block = 256
// args = ["random f32[n]", "zeros f32[n]"]
// [table_by_variable]
// grid = "n / 256"
// block = 256
// args = ["random f32[64]", "zeros f32[n]", "random(0, 64) i32[64]"]
// [nearly_empty_wave]
// grid = 270                        # an H200 runs 264 at once: 2 for each of 132 SMs
// block = 1024
// args = ["zeros f32[270 * 1024]"]
// [whole_wave]
// grid = 264
// block = 1024
// args = ["zeros f32[264 * 1024]"]
// [scale_by_warps]
// grid = 8448
// block = 32
// args = ["random f32[8448 * 32]", "zeros f32[8448 * 32]"]
// [scale_by_stride]
// grid = 1056
// block = 256
// args = ["random f32[8 * 1056 * 256]", "zeros f32[8 * 1056 * 256]"]
// [past_the_register_cliff]
// grid = 264
// block = 1024
// args = ["random f32[64 * 1024]", "zeros f32[264 * 1024]", "permutation i32[1024]"]
// [before_the_register_cliff]
// grid = 264
// block = 1024
// args = ["random f32[64 * 1024]", "zeros f32[264 * 1024]", "permutation i32[1024]"]
// [past_the_shared_cliff]
// grid = 1056
// block = 256
// args = ["random f32[1056 * 256]", "zeros f32[1056 * 256]"]
// [before_the_shared_cliff]
// grid = 1056
// block = 256
// args = ["random f32[1056 * 256]", "zeros f32[1056 * 256]"]
// [barriers_of_one_warp]
// grid = "n / 32"
// block = 32
// args = ["random f32[n]", "zeros f32[n / 32]"]
// [no_barriers_of_one_warp]
// grid = "n / 32"
// block = 32
// args = ["random f32[n]", "zeros f32[n / 32]"]
// [barrier_twice]
// grid = "n / 256"
// block = 256
// args = ["random f32[n]", "zeros f32[n]"]
// [unfused]
// grid = "n / 256"
// block = 256
// args = ["random f32[n]", "zeros f32[n]"]
// [fused]
// grid = "n / 256"
// block = 256
// args = ["random f32[n]", "zeros f32[n]"]
// [converts_each_round]
// grid = "n / 256"
// block = 256
// args = ["random f32[n]", "zeros i32[n]", 16]
// [converts_once]
// grid = "n / 256"
// block = 256
// args = ["random f32[n]", "zeros i32[n]", 16]
// [one_field]
// grid = "n / 256"
// block = 256
// args = ["random f32[4 * n]", "zeros f32[n]"]
// [all_fields]
// grid = "n / 256"
// block = 256
// args = ["random f32[4 * n]", "zeros f32[n]"]
// [one_load_at_a_time]
// grid = 132
// block = 128
// args = ["random f32[128 * 132 * 128]", "zeros f32[132 * 128]"]
// [eight_loads_at_a_time]
// grid = 132
// block = 1024
// args = ["random f32[16 * 132 * 1024]", "zeros f32[132 * 1024]"]
// [byte_a_thread]
// grid = ["128 / 32", "64 / 8", 4]
// block = [32, 8]
// args = ["random(0, 99) u8[4 * 64 * 128]", "zeros u8[4 * 64 * 128]", 128, 64, 4]
// [sixteen_bytes_a_thread]
// grid = ["4 * 64 * 128 / 16 / 128"]
// block = 128
// args = ["random(0, 99) u8[4 * 64 * 128]", "zeros u8[4 * 64 * 128]", "4 * 64 * 128 / 16"]
// ///
__global__ void histogram(const int* k, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[k[i] & 3], 1);
}

__global__ void own_bins(const int* k, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[i], k[i]);
}

__global__ void double_literals(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int n = 0; n < 9; n++) v = v * 0.999 + 0.5;
  y[i] = v;
}

__global__ void float_literals(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int n = 0; n < 9; n++) v = v * 0.999f + 0.5f;
  y[i] = v;
}

__global__ void table_by_variable(const float* x, float* y, const int* k) {
  float a[64];
  for (int j = 0; j < 64; j++) a[j] = x[j];
  float t = 0;
  for (int j = 0; j < 64; j++) t += a[(k[j] + threadIdx.x) & 63];
  y[blockIdx.x * blockDim.x + threadIdx.x] = t;
}

__global__ void nearly_empty_wave(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void whole_wave(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void scale_by_warps(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}

__global__ void scale_by_stride(const float* x, float* y) {
  int all = gridDim.x * blockDim.x;
  for (int k = 0, i = blockIdx.x * blockDim.x + threadIdx.x; k < 8; ++k, i += all) y[i] = 2 * x[i];
}

template <int KEEP>
__device__ void keep(const float* x, float* y, const int* next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x / 32;
  float kept[KEEP], sum = 0;
  for (int k = 0; k < KEEP; ++k) kept[k] = x[1024 * k + threadIdx.x];
#pragma unroll 1
  for (int step = 0; step < 8; ++step) at = next[at];
  for (int k = 0; k < KEEP; ++k) sum += kept[k];
  y[i] = sum + at;
}

__global__ void past_the_register_cliff(const float* x, float* y, const int* next) { keep<26>(x, y, next); }

__global__ void before_the_register_cliff(const float* x, float* y, const int* next) { keep<22>(x, y, next); }

template <int BYTES>
__device__ void reverse(const float* x, float* y) {
  __shared__ float tile[BYTES / 4];
  int i = blockIdx.x * blockDim.x, t = threadIdx.x;
  tile[BYTES / 4 - 1 - t] = x[i + t];
  __syncthreads();
  y[i + t] = tile[BYTES / 4 - 256 + t];
}

__global__ void past_the_shared_cliff(const float* x, float* y) { reverse<28288>(x, y); }

__global__ void before_the_shared_cliff(const float* x, float* y) { reverse<28160>(x, y); }

__global__ void barriers_of_one_warp(const float* x, float* sums) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[32 * blockIdx.x + t];
  for (int half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) s[t] += s[t + half];
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

__global__ void no_barriers_of_one_warp(const float* x, float* sums) {
  float sum = x[32 * blockIdx.x + threadIdx.x];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void barrier_twice(const float* x, float* y) {
  __shared__ float s[256];
  int i = blockIdx.x * 256, t = threadIdx.x;
  s[t] = x[i + t];
  __syncthreads();
  __syncthreads();
  y[i + t] = s[255 - t];
}

__global__ void unfused(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int n = 0; n < 9; n++) v = __fadd_rn(__fmul_rn(v, 0.999f), 0.5f);
  y[i] = v;
}

__global__ void fused(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int n = 0; n < 9; n++) v = v * 0.999f + 0.5f;
  y[i] = v;
}

__global__ void converts_each_round(const float* x, int* y, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  float v = x[i];
  for (int n = 0; n < rounds; n++) sum += (int)(v * n);
  y[i] = sum;
}

__global__ void converts_once(const float* x, int* y, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i], sum = 0, at = 0;
  for (int n = 0; n < rounds; n++) sum += v * at, at += 1;
  y[i] = (int)sum;
}

struct Body {
  float x, y, z, mass;
};

__global__ void one_field(const Body* bodies, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = bodies[i].mass;
}

__global__ void all_fields(const Body* bodies, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = bodies[i].x + bodies[i].y + bodies[i].z + bodies[i].mass;
}

__global__ void one_load_at_a_time(const float* x, float* y) {
  int all = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 128; ++k) sum = sum * 0.5f + x[i + k * all];
  y[i] = sum;
}

__global__ void eight_loads_at_a_time(const float* x, float* y) {
  int all = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < 16; ++k) sum = sum * 0.5f + x[i + k * all];
  y[i] = sum;
}

__global__ void byte_a_thread(const unsigned char* x, unsigned char* y, int width, int height, int depth) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y, slice = blockIdx.z;
  if (column >= width || row >= height || slice >= depth) return;
  int i = (slice * height + row) * width + column;
  y[i] = 255 - x[i];
}

__global__ void sixteen_bytes_a_thread(const uint4* x, uint4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 v = x[i];
  y[i] = make_uint4(~v.x, ~v.y, ~v.z, ~v.w);
}
