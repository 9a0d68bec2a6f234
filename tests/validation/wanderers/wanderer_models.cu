// Wanderers: more parts of networks (launches: launches.toml).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

// A selective scan with 16 states a channel: h = exp(delta a) h + delta b x, y = h c + skip x.  Four lanes a channel
// with four states each; b and c of 16 steps come to shared memory.
constexpr int states = 16, chunk = 16;
extern "C" __global__ void __launch_bounds__(128)
    selective_scan(const __nv_bfloat16* x, const float* delta, const float4* a, const float* b, const float* c,
                   const float* skip, __nv_bfloat16* y, int steps, int channels) {
  __shared__ __align__(16) float bs[chunk][states], cs[chunk][states];
  const int t = threadIdx.x, quarter = t & 3, channel = blockIdx.x * 32 + t / 4;
  const size_t first = (size_t)blockIdx.y * steps;
  const bool on = channel < channels;
  float4 h = {0, 0, 0, 0}, rate = on ? a[channel * 4 + quarter] : h;
  const float through = on ? skip[channel] : 0;
  for (int from = 0; from < steps; from += chunk) {
    __syncthreads();
    for (int k = t; k < chunk * states; k += 128) {
      const bool there = from + k / states < steps;
      bs[k / states][k % states] = there ? b[(first + from) * states + k] : 0;
      cs[k / states][k % states] = there ? c[(first + from) * states + k] : 0;
    }
    __syncthreads();
    for (int step = 0; step < min(chunk, steps - from); ++step) {
      const size_t at = (first + from + step) * channels + channel;
      const float in = on ? __bfloat162float(x[at]) : 0, d = on ? delta[at] : 0;
      const float4 bb = reinterpret_cast<const float4*>(bs[step])[quarter];
      const float4 cc = reinterpret_cast<const float4*>(cs[step])[quarter];
      h.x = __expf(d * rate.x) * h.x + d * in * bb.x;
      h.y = __expf(d * rate.y) * h.y + d * in * bb.y;
      h.z = __expf(d * rate.z) * h.z + d * in * bb.z;
      h.w = __expf(d * rate.w) * h.w + d * in * bb.w;
      float sum = h.x * cc.x + h.y * cc.y + h.z * cc.z + h.w * cc.w;
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      if (quarter == 0 && on) y[at] = __float2bfloat16(sum + through * in);
    }
  }
}

// Weights of two bits, sixteen in a word, each less one, times bytes: a row a warp.  The bytes come to shared memory in
// the order in which two bits of each of a word's bytes meet them.
extern "C" __global__ void two_bit_rows(const uint32_t* weights, const int8_t* x, const float* scale, float* y, int n,
                                        int rows) {
  extern __shared__ int turned[];
  for (int k = threadIdx.x; k < n / 4; k += blockDim.x) {
    const int8_t* from = x + k / 4 * 16 + k % 4;
    const char4 four = make_char4(from[0], from[4], from[8], from[12]);
    turned[k] = reinterpret_cast<const int&>(four);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows; row += gridDim.x * blockDim.x / 32) {
    int sum = 0, less = 0;
#pragma unroll 4
    for (int k = lane; k < n / 16; k += 32) {
      const uint32_t word = weights[(size_t)row * (n / 16) + k];
      const int4 bytes = reinterpret_cast<const int4*>(turned)[k];
      sum = __dp4a((int)(word & 0x03030303), bytes.x, sum);
      sum = __dp4a((int)(word >> 2 & 0x03030303), bytes.y, sum);
      sum = __dp4a((int)(word >> 4 & 0x03030303), bytes.z, sum);
      sum = __dp4a((int)(word >> 6 & 0x03030303), bytes.w, sum);
      less = __dp4a(0x01010101, bytes.x, __dp4a(0x01010101, bytes.y, less));
      less = __dp4a(0x01010101, bytes.z, __dp4a(0x01010101, bytes.w, less));
    }
    sum -= less;
    for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) y[row] = scale[row] * sum;
  }
}

// Winograd's transform of tiles of 4 x 4 pixels, two apart, for convolutions of 3 x 3 (zeros around): 16 planes.
__device__ void winograd(float& a, float& b, float& c, float& d) {
  const float p = a - c, q = b + c, r = c - b, s = b - d;
  a = p, b = q, c = r, d = s;
}
extern "C" __global__ void winograd_tiles(const float* x, float* planes, int w, int h) {
  const int across = (w + 1) / 2, tiles = across * ((h + 1) / 2);
  const int tile = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  if (tile >= tiles) return;
  const int left = tile % across * 2 - 1, top = tile / across * 2 - 1;
  const float* plane = x + (size_t)channel * w * h;
  float v[4][4];
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int px = left + c, py = top + r;
      v[r][c] = px >= 0 && px < w && py >= 0 && py < h ? plane[py * w + px] : 0.0f;
    }
#pragma unroll
  for (int k = 0; k < 4; ++k) winograd(v[k][0], v[k][1], v[k][2], v[k][3]);
#pragma unroll
  for (int k = 0; k < 4; ++k) winograd(v[0][k], v[1][k], v[2][k], v[3][k]);
#pragma unroll
  for (int k = 0; k < 16; ++k) planes[((size_t)k * gridDim.y + channel) * tiles + tile] = v[k / 4][k % 4];
}

// What a detector of 80 kinds says of its anchors: nothing where it sees no thing; else the kind, how sure it is, and
// the box between corners.  A warp an anchor.
extern "C" __global__ void boxes_decoded(const float* said, float least, float4* boxes, float* sure, int8_t* kinds,
                                         int n) {
  const int anchor = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (anchor >= n) return;
  const float* mine = said + (size_t)85 * anchor;
  const float seen = 1 / (1 + __expf(-mine[4]));
  if (seen < least) {
    if (lane == 0) kinds[anchor] = -1;
    return;
  }
  float best = -1e30f;
  int kind = 0;
  for (int k = lane; k < 80; k += 32)
    if (mine[5 + k] > best) best = mine[5 + k], kind = k;
  for (int step = 16; step; step >>= 1) {
    const float other = __shfl_down_sync(~0u, best, step);
    const int its = __shfl_down_sync(~0u, kind, step);
    if (other > best || (other == best && its < kind)) best = other, kind = its;
  }
  if (lane) return;
  const float cx = mine[0], cy = mine[1], half_w = __expf(mine[2]) * 0.5f, half_h = __expf(mine[3]) * 0.5f;
  boxes[anchor] = make_float4(cx - half_w, cy - half_h, cx + half_w, cy + half_h);
  sure[anchor] = seen / (1 + __expf(-best));
  kinds[anchor] = kind;
}

// Sequences of different lengths, one after the other, become rows of 40 places of 256 halves each, zeros behind the
// end: a token a warp.  Sequence s begins at 20 s + first[s].
extern "C" __global__ void padded_rows(const uint4* tokens, const uint8_t* first, uint4* padded, uint8_t* mask, int n) {
  const int s = blockIdx.x, lane = threadIdx.x;
  const int begin = 20 * s + first[s], length = 20 * (s + 1) + first[s + 1] - begin;
  for (int place = threadIdx.y; place < 40; place += blockDim.y) {
    const size_t to = (size_t)40 * s + place;
    uint4 v = {};
    if (place < length) v = __ldg(tokens + (size_t)32 * (begin + place) + lane);
    padded[32 * to + lane] = v;
    if (lane == 0) mask[to] = place < length;
  }
}
