// Four elements a thread: one load of 16 bytes does the work of four, with a quarter of the instructions.
extern "C" __global__ void scale(const float4* in, float4* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= n) return;
  float4 x = in[i];
  out[i] = make_float4(factor * x.x, factor * x.y, factor * x.z, factor * x.w);
}
