// Travellers: pictures (launches: launches.toml).
#include <cuda_fp16.h>
using uchar = unsigned char;
using ushort = unsigned short;

// A picture whose pixels have one colour each (red and green, green and blue) gets the other two, by the filters of
// Malvar, He and Cutler in whole numbers; 2 x 2 pixels a thread, three planes.
struct Mosaic {
  const ushort* x;
  int w, h;
  __device__ static int inside(int u, int n) { return u < 0 ? -u : u >= n ? 2 * n - 2 - u : u; }
  __device__ int operator()(int u, int v) const { return x[inside(v, h) * w + inside(u, w)]; }
};
__device__ ushort cut(int v) { return (ushort)min(max(v >> 4, 0), 65535); }
extern "C" __global__ void demosaic(const ushort* x, ushort* y, int w, int h) {
  const int u = 2 * (blockIdx.x * blockDim.x + threadIdx.x), v = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
  if (u >= w || v >= h) return;
  const Mosaic m{x, w, h};
  int near[6][6];
#pragma unroll
  for (int b = 0; b < 6; ++b)
#pragma unroll
    for (int a = 0; a < 6; ++a) near[b][a] = m(u + a - 2, v + b - 2);
  auto cross = [&](int a, int b) { return near[b][a - 1] + near[b][a + 1] + near[b - 1][a] + near[b + 1][a]; };
  auto far = [&](int a, int b) { return near[b][a - 2] + near[b][a + 2] + near[b - 2][a] + near[b + 2][a]; };
  auto slope = [&](int a, int b) {
    return near[b - 1][a - 1] + near[b - 1][a + 1] + near[b + 1][a - 1] + near[b + 1][a + 1];
  };
  auto green = [&](int a, int b) { return cut(2 * (4 * near[b][a] + 2 * cross(a, b) - far(a, b))); };
  auto beside = [&](int a, int b) {  // what lies to the left and right of a green one
    return cut(10 * near[b][a] + 8 * (near[b][a - 1] + near[b][a + 1]) - 2 * slope(a, b) -
               2 * (near[b][a - 2] + near[b][a + 2]) + near[b - 2][a] + near[b + 2][a]);
  };
  auto above = [&](int a, int b) {
    return cut(10 * near[b][a] + 8 * (near[b - 1][a] + near[b + 1][a]) - 2 * slope(a, b) -
               2 * (near[b - 2][a] + near[b + 2][a]) + near[b][a - 2] + near[b][a + 2]);
  };
  auto across = [&](int a, int b) { return cut(12 * near[b][a] + 4 * slope(a, b) - 3 * far(a, b)); };
  const ushort colours[3][2][2] = {
      {{(ushort)near[2][2], beside(3, 2)}, {above(2, 3), across(3, 3)}},
      {{green(2, 2), (ushort)near[2][3]}, {(ushort)near[3][2], green(3, 3)}},
      {{across(2, 2), above(3, 2)}, {beside(2, 3), (ushort)near[3][3]}}};
#pragma unroll
  for (int c = 0; c < 3; ++c)
#pragma unroll
    for (int b = 0; b < 2; ++b)
      *reinterpret_cast<ushort2*>(y + ((size_t)c * h + v + b) * w + u) = make_ushort2(colours[c][b][0], colours[c][b][1]);
}

// Edges of a picture (Canny's first steps): how steep it is, kept where its neighbours up and down the slope are not
// steeper, in two kinds.
extern "C" __global__ void thin_edges(const uchar* x, uchar* y, int low, int high, int w, int h) {
  __shared__ uchar s[12][36];
  __shared__ short steep[10][34];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx, x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  for (int e = t; e < 12 * 36; e += 256)
    s[e / 36][e % 36] = x[(size_t)min(max(y0 + e / 36 - 2, 0), h - 1) * w + min(max(x0 + e % 36 - 2, 0), w - 1)];
  __syncthreads();
  auto across = [&](int a, int b) {
    return s[b][a + 2] + 2 * s[b + 1][a + 2] + s[b + 2][a + 2] - s[b][a] - 2 * s[b + 1][a] - s[b + 2][a];
  };
  auto down = [&](int a, int b) {
    return s[b + 2][a] + 2 * s[b + 2][a + 1] + s[b + 2][a + 2] - s[b][a] - 2 * s[b][a + 1] - s[b][a + 2];
  };
  for (int e = t; e < 10 * 34; e += 256) steep[e / 34][e % 34] = (short)(abs(across(e % 34, e / 34)) + abs(down(e % 34, e / 34)));
  __syncthreads();
  const int u = x0 + tx, v = y0 + ty;
  if (u >= w || v >= h) return;
  const int gx = across(tx + 1, ty + 1), gy = down(tx + 1, ty + 1), mine = steep[ty + 1][tx + 1];
  uchar kind = 0;
  if (mine >= low) {
    int a = 1, b = 0;
    if (2 * abs(gx) < abs(gy)) { a = 0; b = 1; }
    else if (2 * abs(gy) >= abs(gx)) b = (gx < 0) == (gy < 0) ? 1 : -1;
    if (mine > steep[ty + 1 - b][tx + 1 - a] && mine >= steep[ty + 1 + b][tx + 1 + a]) kind = mine >= high ? 255 : 128;
  }
  y[(size_t)v * w + u] = kind;
}

// Colours of a screen become L, a and b of the CIE, in halves; a table makes bytes linear.
__device__ float bent(float t) { return t > 0.008856452f ? cbrtf(t) : fmaf(7.787037f, t, 0.13793103f); }
extern "C" __global__ void to_lab(const uchar4* x, const float* linear, uint2* y, int n) {
  __shared__ float table[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) table[k] = linear[k];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uchar4 v = x[i];
    const float r = table[v.x], g = table[v.y], b = table[v.z];
    const float fx = bent(0.43394f * r + 0.37620f * g + 0.18984f * b);
    const float fy = bent(0.21267f * r + 0.71515f * g + 0.07218f * b);
    const float fz = bent(0.01776f * r + 0.10947f * g + 0.87277f * b);
    union { __half2 pair[2]; uint2 word; } out;
    out.pair[0] = __floats2half2_rn(116 * fy - 16, 500 * (fx - fy));
    out.pair[1] = __floats2half2_rn(200 * (fy - fz), (float)v.w);
    y[i] = out.word;
  }
}
