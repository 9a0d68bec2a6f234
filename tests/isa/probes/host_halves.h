// Halves, bfloats and floats of 8 bits.  H stands for one of the two formats, computed in doubles and rounded once.

static __half __low2half(__half2 x) { return x.low; }
static __half __high2half(__half2 x) { return x.high; }
static __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.low; }
static float __low2float(__half2 x) { return number(x.low); }
static float __high2float(__half2 x) { return number(x.high); }
static float __low2float(__nv_bfloat162 x) { return number(x.low); }
static float __high2float(__nv_bfloat162 x) { return number(x.high); }
static __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.high; }
static Floats make_float2(float x, float y) { return {x, y}; }

// Words and halves of pairs, put together anew.
#define PAIRS(H, half) \
  static H __short_as_##half(short x) { return {(ushort)x}; } \
  static H __ushort_as_##half(ushort x) { return {x}; } \
  static short __##half##_as_short(H x) { return x.word; } \
  static ushort __##half##_as_ushort(H x) { return x.word; } \
  static Pair<H> make_##half##2(H x, H y) { return {x, y}; } \
  static Pair<H> __halves2##half##2(H x, H y) { return {x, y}; } \
  static Pair<H> __##half##2##half##2(H x) { return {x, x}; } \
  static Pair<H> __low2##half##2(Pair<H> x) { return {x.low, x.low}; } \
  static Pair<H> __high2##half##2(Pair<H> x) { return {x.high, x.high}; } \
  static Pair<H> __lows2##half##2(Pair<H> x, Pair<H> y) { return {x.low, y.low}; } \
  static Pair<H> __highs2##half##2(Pair<H> x, Pair<H> y) { return {x.high, y.high}; }
PAIRS(Half, half)
PAIRS(Bfloat, bfloat16)
template <class H> Pair<H> __lowhigh2highlow(Pair<H> x) { return {x.high, x.low}; }
static float __half2float(Half x) { return number(x); }
static float __bfloat162float(Bfloat x) { return number(x); }
static Floats __half22float2(__half2 x) { return {(float)number(x.low), (float)number(x.high)}; }
static Floats __bfloat1622float2(__nv_bfloat162 x) { return {(float)number(x.low), (float)number(x.high)}; }

template <class H> H of(long double x) {
  H result;
  put(&result, x);
  return result;
}
template <class H, class F> Pair<H> both(Pair<H> x, F each) { return {each(x.low), each(x.high)}; }
template <class H, class F> Pair<H> both(Pair<H> x, Pair<H> y, F each) { return {each(x.low, y.low), each(x.high, y.high)}; }
template <class H, class F> Pair<H> both(Pair<H> x, Pair<H> y, Pair<H> z, F each) {
  return {each(x.low, y.low, z.low), each(x.high, y.high, z.high)};
}
static double saturated(double x) { return x > 0 ? smaller(x, 1.0) : 0; }
static double relu(double x) { return isnan(x) ? x : x > 0 ? x : 0; }
static double kept(double x) { return x; }
static double flush(double x) { return fabs(x) < 0x1p-14 ? copysign(0, x) : x; }  // of halves

#define ONE(name, formula) \
  template <class H> H name(H x_) { double x = number(x_); return of<H>(formula); } \
  template <class H> Pair<H> name(Pair<H> x) { return both(x, [](H y) { return name(y); }); }
#define TWO(name, plain, formula) \
  template <class H> H plain(H x_, H y_) { double x = number(x_), y = number(y_); return of<H>(formula); } \
  template <class H> Pair<H> name(Pair<H> x, Pair<H> y) { return both(x, y, [](H p, H q) { return plain(p, q); }); }
#define THREE_(name, plain, formula) \
  template <class H> H plain(H x_, H y_, H z_) { \
    double x = number(x_), y = number(y_), z = number(z_); \
    return of<H>(formula); \
  } \
  template <class H> Pair<H> name(Pair<H> x, Pair<H> y, Pair<H> z) { \
    return both(x, y, z, [](H p, H q, H r) { return plain(p, q, r); }); \
  }
// A sum that is infinite or no number is the sum itself: rounding to odd needs numbers.
static double total(double x, double y) { return isfinite(x) && isfinite(y) ? odd_sum(x, y) : x + y; }
TWO(__hadd2, __hadd, total(x, y)) TWO(__hadd2_rn, __hadd_rn, total(x, y)) TWO(__hsub2, __hsub, total(x, -y)) TWO(__hsub2_rn, __hsub_rn, total(x, -y))
TWO(__hmul2, __hmul, x * y) TWO(__hmul2_rn, __hmul_rn, x * y) TWO(__h2div, __hdiv, x / y)
TWO(__hadd2_sat, __hadd_sat, saturated(total(x, y))) TWO(__hsub2_sat, __hsub_sat, saturated(total(x, -y)))
TWO(__hmul2_sat, __hmul_sat, saturated(x * y))
THREE_(__hfma2, __hfma, total(x * y, z)) THREE_(__hfma2_sat, __hfma_sat, saturated(total(x * y, z)))
THREE_(__hfma2_relu, __hfma_relu, relu(total(x * y, z))) THREE_(fma_relu, fma_relu1, relu(total(x * y, z)))
TWO(__hmin2, __hmin, smaller(x, y)) TWO(__hmax2, __hmax, larger(x, y))
// Of two zeros the functions that stand in for the instruction on sm_75 take the second, whatever its sign.
static double first_zero(double x, double y) { return x == 0 && y == 0 && signbit(x) != signbit(y) ? untold(x) : x; }
TWO(__hmin2_nan, __hmin_nan, isnan(x) || isnan(y) ? NAN : smaller(first_zero(x, y), y))
TWO(__hmax2_nan, __hmax_nan, isnan(x) || isnan(y) ? NAN : larger(first_zero(x, y), y))
TWO(min_xorsign, min_xorsign1, copysign(smaller(fabs(x), fabs(y)), signbit(x) != signbit(y) ? -1 : 1))
TWO(add_ftz2, add_ftz1, flush(number(of<H>(total(flush(x), flush(y))))))
TWO(mul_ftz2, mul_ftz1, flush(number(of<H>(flush(x) * flush(y)))))
THREE_(fma_ftz2, fma_ftz1, flush(number(of<H>(total(flush(x) * flush(y), flush(z))))))
ONE(h2floor, floor(x)) ONE(h2ceil, ceil(x)) ONE(h2trunc, trunc(x)) ONE(h2rint, rint(x))
ONE(h2sqrt, sqrtl(x)) ONE(h2rsqrt, 1 / sqrtl(x)) ONE(h2rcp, 1 / (long double)x)
ONE(__hisnan2, isnan(x) ? 1 : 0)
template <class H> H hfloor(H x) { return h2floor(x); }
template <class H> H hceil(H x) { return h2ceil(x); }
template <class H> H htrunc(H x) { return h2trunc(x); }
template <class H> H hrint(H x) { return h2rint(x); }
template <class H> H hsqrt(H x) { return h2sqrt(x); }
template <class H> H hrsqrt(H x) { return h2rsqrt(x); }
template <class H> H hrcp(H x) { return h2rcp(x); }
template <class H> int __hisinf(H x) { return isinf(number(x)) ? (signbit(number(x)) ? -1 : 1) : 0; }
template <class H> H __hneg(H x) { return {(ushort)(x.word ^ 0x8000)}; }
template <class H> H __habs(H x) { return {(ushort)(x.word & 0x7FFF)}; }
static bool __hisnan(Half x) { return isnan(number(x)); }
template <class H> Pair<H> __hneg2(Pair<H> x) { return both(x, [](H y) { return H{(ushort)(y.word ^ 0x8000)}; }); }
template <class H> Pair<H> __habs2(Pair<H> x) { return both(x, [](H y) { return H{(ushort)(y.word & 0x7FFF)}; }); }
static __half2 hmin3(__half2 x, __half2 y, __half2 z) { return __hmin2(__hmin2(x, y), z); }
template <class H> Pair<H> __hcmadd(Pair<H> x, Pair<H> y, Pair<H> z) {
  H minus = {(ushort)(x.high.word ^ 0x8000)};
  return {__hfma(minus, y.high, __hfma(x.low, y.low, z.low)), __hfma(x.high, y.low, __hfma(x.low, y.high, z.high))};
}
static float fma_f32h(__half2 x, __half2 y, float z) { return fmaf(__low2float(x), __high2float(y), z); }

#define COMPARISON(name, formula) \
  template <class H> bool __h##name(H x_, H y_) { double x = number(x_), y = number(y_); return formula; } \
  template <class H> Pair<H> __h##name##2(Pair<H> x, Pair<H> y) { \
    return both(x, y, [](H p, H q) { return of<H>(__h##name(p, q)); }); \
  } \
  template <class H> bool __hb##name##2(Pair<H> x, Pair<H> y) { return __h##name(x.low, y.low) && __h##name(x.high, y.high); } \
  template <class H> unsigned __h##name##2_mask(Pair<H> x, Pair<H> y) { \
    return __h##name(x.low, y.low) * 0xFFFFu | __h##name(x.high, y.high) * 0xFFFF0000u; \
  }
COMPARISON(eq, x == y) COMPARISON(ne, x < y || x > y) COMPARISON(lt, x < y) COMPARISON(le, x <= y) COMPARISON(gt, x > y)
COMPARISON(ge, x >= y) COMPARISON(neu, x != y) COMPARISON(leu, !(x > y)) COMPARISON(geu, !(x < y))
COMPARISON(ltu, !(x >= y)) COMPARISON(gtu, !(x <= y)) COMPARISON(equ, !(x < y || x > y))

#define HALVES_IN(name, way) \
  static Half __float2half_##name(float x) { return half(x, way); } \
  static Bfloat __float2bfloat16_##name(float x) { return bfloat(x, way); } \
  static int __half2int_##name(Half x) { return integer<int>((float)number(x), way); } \
  static unsigned __half2uint_##name(Half x) { return integer<unsigned>((float)number(x), way); } \
  static short __half2short_##name(Half x) { return integer<short>((float)number(x), way); } \
  static ushort __half2ushort_##name(Half x) { return integer<ushort>((float)number(x), way); } \
  static ll __half2ll_##name(Half x) { return integer<ll>((float)number(x), way); } \
  static ull __half2ull_##name(Half x) { return integer<ull>((float)number(x), way); } \
  static signed char __half2char_##name(Half x) { return integer<signed char>((float)number(x), way); } \
  static uchar __half2uchar_##name(Half x) { return integer<uchar>((float)number(x), way); } \
  static int __bfloat162int_##name(Bfloat x) { return integer<int>((float)number(x), way); } \
  static unsigned __bfloat162uint_##name(Bfloat x) { return integer<unsigned>((float)number(x), way); } \
  static short __bfloat162short_##name(Bfloat x) { return integer<short>((float)number(x), way); } \
  static ushort __bfloat162ushort_##name(Bfloat x) { return integer<ushort>((float)number(x), way); } \
  static ull __bfloat162ull_##name(Bfloat x) { return integer<ull>((float)number(x), way); } \
  static uchar __bfloat162uchar_##name(Bfloat x) { return integer<uchar>((float)number(x), way); } \
  static ll __bfloat162ll_##name(Bfloat x) { return integer<ll>((float)number(x), way); } \
  static signed char __bfloat162char_##name(Bfloat x) { return integer<signed char>((float)number(x), way); } \
  static Half __int2half_##name(int x) { return half(x, way); } \
  static Half __uint2half_##name(unsigned x) { return half(x, way); } \
  static Half __short2half_##name(short x) { return half(x, way); } \
  static Half __ushort2half_##name(ushort x) { return half(x, way); } \
  static Half __ll2half_##name(ll x) { return half(x, way); } \
  static Half __ull2half_##name(ull x) { return half(x, way); } \
  static Bfloat __int2bfloat16_##name(int x) { return bfloat(x, way); } \
  static Bfloat __uint2bfloat16_##name(unsigned x) { return bfloat(x, way); } \
  static Bfloat __short2bfloat16_##name(short x) { return bfloat(x, way); } \
  static Bfloat __ushort2bfloat16_##name(ushort x) { return bfloat(x, way); } \
  static Bfloat __ll2bfloat16_##name(ll x) { return bfloat(x, way); } \
  static Bfloat __ull2bfloat16_##name(ull x) { return bfloat(x, way); }
EACH_ROUNDING(HALVES_IN)
static Half __float2half(float x) { return half(x); }
static Bfloat __float2bfloat16(float x) { return bfloat(x); }
static __nv_bfloat162 __float2bfloat162_rn(float x) { return {bfloat(x), bfloat(x)}; }
static __half2 __float22half2_rn(Floats x) { return {half(x.x), half(x.y)}; }
static __nv_bfloat162 __float22bfloat162_rn(Floats x) { return {bfloat(x.x), bfloat(x.y)}; }
static Half __double2half(double x) { return half(x); }
static Bfloat __double2bfloat16(double x) { return bfloat(x); }
static __half2 __floats2half2_rn(float low, float high) { return {half(low), half(high)}; }
static __nv_bfloat162 __floats2bfloat162_rn(float low, float high) { return {bfloat(low), bfloat(high)}; }
static __half2 __float2half2_rn(float x) { return {half(x), half(x)}; }
static __half2 cvt_half_rz2(float high, float low) { return {half(low, RZ), half(high, RZ)}; }
static __half2 cvt_relu(float high, float low) { return {half(relu(low)), half(relu(high))}; }
static __nv_bfloat162 cvt_bf_rz2(float high, float low) { return {bfloat(low, RZ), bfloat(high, RZ)}; }
static __nv_bfloat162 cvt_bf_relu(float high, float low) { return {bfloat(relu(low)), bfloat(relu(high))}; }
static Half cvt_half_sat(float x) { return half(saturated(x)); }

// Floats of 8 bits: E4M3 has no infinity, and its NaN are the two words whose bits but the sign are all set.
enum { __NV_SATFINITE, __NV_NOSAT, __NV_E4M3 = 4, __NV_E5M2 };
static unsigned byte_float(long double x, int kind, bool finite = true) {
  Format format = kind == __NV_E4M3 ? E4M3 : E5M2;
  if (isnan(x)) return 0x7F;
  long double near = rounded(x, format, RN);
  if (isinf(near)) near = finite ? copysignl(format.most, x) : near;
  if (kind == __NV_E4M3 && isinf(near)) return (signbit(near) ? 0x80 : 0) | 0x7F;
  if (kind == __NV_E4M3 && fabsl(near) >= 256)  // the exponent that elsewhere means infinity
    return (signbit(near) ? 0x80 : 0) | 0x78 | (unsigned)((fabsl(near) - 256) / 32);
  return encoded(near, format, 8);
}
static double of_byte(unsigned byte, int kind) {
  if (kind == __NV_E5M2) return decoded(byte, E5M2, 8);
  if ((byte & 0x7F) == 0x7F) return NAN;
  double size = (byte & 0x78) == 0x78 ? 256 + 32 * (byte & 7) : decoded(byte & 0x7F, E4M3, 8);
  return byte & 0x80 ? -size : size;
}
static ushort e4m3x2(float high, float low) { return byte_float(high, __NV_E4M3) << 8 | byte_float(low, __NV_E4M3); }
static ushort e5m2x2(float high, float low) { return byte_float(high, __NV_E5M2) << 8 | byte_float(low, __NV_E5M2); }
static ushort e4m3x2_relu(float high, float low) { return e4m3x2(relu(high), relu(low)); }
static ushort e4m3_h2(__half2 x) { return e4m3x2(number(x.high), number(x.low)); }
static ushort e5m2_h2(__half2 x) { return e5m2x2(number(x.high), number(x.low)); }
static __half2 halves_of(unsigned u, int kind) { return {half(of_byte(u & 255, kind)), half(of_byte(u >> 8 & 255, kind))}; }
static __half2 h2_e4m3(unsigned u) { return halves_of(u, __NV_E4M3); }
static __half2 h2_e5m2(unsigned u) { return halves_of(u >> 8, __NV_E5M2); }
static uchar __nv_cvt_float_to_fp8(float x, int beyond, int kind) { return byte_float(x, kind, beyond == __NV_SATFINITE); }
static uchar __nv_cvt_double_to_fp8(double x, int beyond, int kind) {  // a function, which keeps the sign of NaN
  return byte_float(x, kind, beyond == __NV_SATFINITE) | (isnan(x) && signbit(x) ? 0x80 : 0);
}
struct HalfWord {
  Half x;
};
static HalfWord __nv_cvt_fp8_to_halfraw(unsigned byte, int kind) { return {half(of_byte(byte & 255, kind))}; }
static uchar __nv_cvt_halfraw_to_fp8(Half x, int beyond, int kind) { return byte_float(number(x), kind, beyond == __NV_SATFINITE); }
static uchar __nv_cvt_bfloat16raw_to_fp8(Bfloat x, int beyond, int kind) { return byte_float(number(x), kind, beyond == __NV_SATFINITE); }
static ushort __nv_cvt_halfraw2_to_fp8x2(__half2 x, int beyond, int kind) {
  return __nv_cvt_halfraw_to_fp8(x.high, beyond, kind) << 8 | __nv_cvt_halfraw_to_fp8(x.low, beyond, kind);
}
static ushort __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162 x, int beyond, int kind) {
  return __nv_cvt_bfloat16raw_to_fp8(x.high, beyond, kind) << 8 | __nv_cvt_bfloat16raw_to_fp8(x.low, beyond, kind);
}
static ushort __nv_cvt_float2_to_fp8x2(Floats x, int beyond, int kind) {
  return __nv_cvt_float_to_fp8(x.y, beyond, kind) << 8 | __nv_cvt_float_to_fp8(x.x, beyond, kind);
}
static __half2 __nv_cvt_fp8x2_to_halfraw2(unsigned u, int kind) { return halves_of(u, kind); }
static __half2 raw2(__half2 x) { return x; }
