// Any part of an array, from `first` on: where it begins in the middle of 16 bytes, a wide access is an error, and
// where n - first is no multiple of 4, the last one would write too far. So the ends are done one by one.
__global__ void add(const float* x, const float* y, float* z, int first, int n) {
  int all = blockDim.x * gridDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
  int from = (first + 3) / 4, to = n / 4;  // whole packs
  auto xs = reinterpret_cast<const float4*>(x), ys = reinterpret_cast<const float4*>(y);
  auto zs = reinterpret_cast<float4*>(z);
#pragma unroll 1
  for (int i = from + thread; i < to; i += all) {
    float4 a = xs[i], b = ys[i];
    zs[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
  int left = 4 * from - first, right = n - 4 * to;
  int i = thread < left ? first + thread : 4 * to + thread - left;
  if (thread < left + right) z[i] = x[i] + y[i];
}
