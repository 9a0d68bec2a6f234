// Half, bfloat16 and 8-bit floats, roundings, packed comparisons.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
// /// warplens
// n = 4001
// [half_pairs]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:f32[2*n](-8,8)", "zeros:u32[4*n]", "n"]
// [brain_pairs]
// grid = "ceil(n / 192)"
// block = 192
// args = ["random:f32[2*n](-8,8)", "zeros:u32[4*n]", "n"]
// [byte_floats]
// grid = "ceil(n / 256)"
// block = 256
// args = ["random:f32[2*n](-500,500)", "zeros:u32[4*n]", "n"]
// [roundings]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:f64[n](-1e6,1e6)", "zeros:i64[4*n]", "n"]
// [float_edges]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:u32[n]", "random:u32[n]", "zeros:u32[4*n]", "n"]
// [double_edges]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:f64[n]", "random:f64[n]", "zeros:f64[4*n]", "n"]
// ///
__device__ unsigned bits(__half2 h) { unsigned u; memcpy(&u, &h, 4); return u; }
__device__ unsigned bits(__nv_bfloat162 h) { unsigned u; memcpy(&u, &h, 4); return u; }
extern "C" __global__ void half_pairs(const float* x, unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 a = __floats2half2_rn(x[2 * i], x[2 * i + 1]), b = __float22half2_rn(make_float2(x[2 * i + 1], x[i]));
  __half2 c = __hfma2_relu(a, b, a), d = __hmax2(__hmin2_nan(a, b), __hneg2(__habs2(b)));
  if (__hbgt2(a, b)) c = __hadd2_sat(c, b); else if (__hblt2(a, b)) c = __hsub2(c, __highs2half2(a, b));
  y[4 * i] = bits(c) ^ __hgtu2_mask(a, b);
  y[4 * i + 1] = bits(__hmul2_rn(d, __lowhigh2highlow(a))) + bits(__heq2(a, d));
  __half h = __hdiv(__low2half(a), __high2half(b)), r = hrint(__hmul(h, __float2half(3.5f)));
  y[4 * i + 2] = (unsigned)__half_as_ushort(h) | ((unsigned)__half_as_ushort(r) << 16);
  y[4 * i + 3] = (unsigned)(__half2int_rz(r) * 31 + __half2short_rd(h) + (int)__half2ull_ru(__habs(h)) + __hisnan(h) + 5 * __hisinf(h))
      ^ (unsigned)__half_as_ushort(__ushort2half_rz((unsigned short)i)) ^ (unsigned)__half_as_ushort(__ll2half_rn((long long)i * i * i));
}
extern "C" __global__ void brain_pairs(const float* x, unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat162 a = __floats2bfloat162_rn(x[2 * i], x[2 * i + 1]), b = __floats2bfloat162_rn(x[i], x[2 * n - 1 - i]);
  __nv_bfloat162 c = __hfma2(a, b, __hneg2(a)), d = __hmax2_nan(a, __hmin2(b, c));
  y[4 * i] = bits(c) + __hle2_mask(a, b);
  y[4 * i + 1] = bits(__hsub2(d, __hmul2(a, a)));
  __nv_bfloat16 h = __hadd(__low2bfloat16(a), __high2bfloat16(b));
  y[4 * i + 2] = __bfloat16_as_ushort(h) | (unsigned)__bfloat16_as_ushort(__float2bfloat16_rz(x[i] * 1.001f)) << 16;
  y[4 * i + 3] = (unsigned)(__bfloat162int_rn(h) + __hgt(h, __low2bfloat16(b)) * 100) ^ __bfloat16_as_ushort(__double2bfloat16((double)x[i] / 3)) ^ __bfloat16_as_ushort(__uint2bfloat16_ru(i * 40503u));
}
extern "C" __global__ void byte_floats(const float* x, unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 v = make_float2(x[2 * i], x[2 * i + 1]);
  unsigned a = __nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, __NV_E4M3), b = __nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, __NV_E5M2);
  unsigned c = __nv_cvt_float_to_fp8(v.x * 0.001f, __NV_SATFINITE, __NV_E4M3), d = __nv_cvt_float_to_fp8(v.y, __NV_NOSAT, __NV_E5M2);
  __half2_raw h = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)a, __NV_E4M3), g = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)b, __NV_E5M2);
  y[4 * i] = a | b << 16;
  y[4 * i + 1] = c | d << 8;
  y[4 * i + 2] = h.x | (unsigned)h.y << 16;
  __nv_fp8_e4m3 e(v.x), f(v.y);
  y[4 * i + 3] = (g.x | (unsigned)g.y << 16) ^ __float_as_uint((float)e * (float)f);
}
extern "C" __global__ void roundings(const double* x, long long* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i]; float f = __double2float_rd(v), g = __double2float_ru(v);
  y[4 * i] = __double2ll_rn(v * 1e9) + __double2int_ru(v) + __float2uint_rz(g) + __double2uint_rd(v < 0 ? -v : v);
  y[4 * i + 1] = __float_as_int(f) ^ ((long long)__float_as_int(__fadd_ru(f, 0.3f)) << 16) ^ __float_as_int(__fmul_rd(g, 1.1f)) ^ __float_as_int(__fmaf_rz(f, g, 1e-3f));
  y[4 * i + 2] = __double_as_longlong(__dadd_rd(v, 1e-9)) ^ __double_as_longlong(__dmul_ru(v, 1.0000001)) ^ __double_as_longlong(__fma_rz(v, v, -1.0));
  y[4 * i + 3] = __double_as_longlong(rint(v)) + (long long)floor(v / 3) - (long long)ceil(v * 0.7) + lrint(v * 5) + __double_as_longlong(__ll2double_rd((long long)i * 0x123456789abcll)) + __float_as_int(__ull2float_ru((unsigned long long)i * 0x987654321ull)) + __double2hiint(v) + __double2loint(v);
}
extern "C" __global__ void float_edges(const unsigned* x, const unsigned* z, unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = __uint_as_float(x[i]), b = __uint_as_float(z[i]);
  y[4 * i] = __float_as_uint(fminf(a, b)) + (isnan(a) ? 1 : 0) + (isinf(b) ? 2 : 0) + (signbit(a) ? 4 : 0);
  float q = a / b; y[4 * i + 1] = isnan(q) ? 0 : __float_as_uint(q);
  float s = __fsqrt_rn(fabsf(a)) + fmodf(fabsf(b) > 1e-3f && fabsf(b) < 1e3f ? b : 2.0f, 0.37f); y[4 * i + 2] = isnan(s) ? 0 : __float_as_uint(s);
  int e; float m = frexpf(a, &e); float w = ldexpf(isnan(m) ? 0.f : m, (int)(z[i] % 300) - 150);
  float whole; float part = modff(b, &whole);
  y[4 * i + 3] = __float_as_uint(w) ^ e ^ (isnan(part) ? 0 : __float_as_uint(part)) ^ (isnan(a) || isnan(b) ? 0 : __float_as_uint(nextafterf(a, b))) ^ (unsigned)ilogbf(b) ^ (isnan(a) ? 0 : __float_as_uint(copysignf(truncf(a), b)));
}
extern "C" __global__ void double_edges(const double* x, const double* z, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = x[i], b = z[i];
  y[4 * i] = fma(a, b, a / (b + 3)) + sqrt(fabs(a)) - cbrt(b * 0 + 8);
  y[4 * i + 1] = fmod(a * 1000, b == 0 ? 1 : b) + remainder(a, 0.3) + trunc(b * 9) + round(a * 7) + __drcp_rn(b + 5);
  int e; double m = frexp(a * 1e-300, &e); y[4 * i + 2] = scalbn(m, e + 600) + logb(b + 10) + hypot(a, b);
  y[4 * i + 3] = exp(a) + log(fabs(b) + 1) + sin(a * 20) * cos(b) + pow(fabs(a) + 0.1, b) + erf(a) + tgamma(fabs(b) + 1) + atan2(a, b);
}
