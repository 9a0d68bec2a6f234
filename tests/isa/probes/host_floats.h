// Floats and doubles: IEEE 754 in the rounding of the name, and where CUDA and PTX say what IEEE 754 leaves open.

static float __uint_as_float(unsigned x) { return as<float>(x); }
#define EACH_ROUNDING(of) of(rn, RN) of(rz, RZ) of(ru, RU) of(rd, RD)
#define FLOAT_IN(name, way) \
  static float __fadd_##name(float x, float y) { return rounding(way, [=] { return x + y; }); } \
  static float __fsub_##name(float x, float y) { return rounding(way, [=] { return x - y; }); } \
  static float __fmul_##name(float x, float y) { return rounding(way, [=] { return x * y; }); } \
  static float __fdiv_##name(float x, float y) { return rounding(way, [=] { return x / y; }); } \
  static float __frcp_##name(float x) { return rounding(way, [=] { return 1 / x; }); } \
  static float __fsqrt_##name(float x) { return rounding(way, [=] { return sqrtf(x); }); } \
  static float __fmaf_##name(float x, float y, float z) { return rounding(way, [=] { return fmaf(x, y, z); }); } \
  static double __dadd_##name(double x, double y) { return rounding(way, [=] { return x + y; }); } \
  static double __dsub_##name(double x, double y) { return rounding(way, [=] { return x - y; }); } \
  static double __ddiv_##name(double x, double y) { return rounding(way, [=] { return x / y; }); } \
  static double __drcp_##name(double x) { return rounding(way, [=] { return 1 / x; }); } \
  static double __dsqrt_##name(double x) { return rounding(way, [=] { return sqrt(x); }); } \
  static double __dmul_##name(double x, double y) { return rounding(way, [=] { return x * y; }); } \
  static double __fma_##name(double x, double y, double z) { return rounding(way, [=] { return fma(x, y, z); }); }
EACH_ROUNDING(FLOAT_IN)

// NaN gives way to a number, and -0 is below +0.
template <class T> T smaller(T x, T y) {
  return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}
template <class T> T larger(T x, T y) { return -smaller(-x, -y); }
#define fminf smaller<float>
#define fmaxf larger<float>
#define fmin smaller<double>
#define fmax larger<double>
static float max_nan(float x, float y) { return isnan(x) || isnan(y) ? NAN : larger(x, y); }
static float min_nan(float x, float y) { return isnan(x) || isnan(y) ? NAN : smaller(x, y); }
static float min3nan(float x, float y, float z) { return min_nan(min_nan(x, y), z); }
static float signs(float x, float y, float of) { return copysignf(of, signbit(x) != signbit(y) ? -1.f : 1.f); }
static float minxs(float x, float y) { return signs(x, y, smaller(fabsf(x), fabsf(y))); }
static float minxsn(float x, float y) { return isnan(x) || isnan(y) ? NAN : minxs(x, y); }
static float __saturatef(float x) { return x > 0 ? smaller(x, 1.f) : 0; }

static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static float add_ftz(float x, float y) { return flushed(flushed(x) + flushed(y)); }
static float mul_ftz(float x, float y) { return flushed(flushed(x) * flushed(y)); }
static float min_ftz(float x, float y) { return smaller(flushed(x), flushed(y)); }
static float fma_ftz(float x, float y, float z) { return flushed(fmaf(flushed(x), flushed(y), flushed(z))); }
static int lt_ftz(float x, float y) { return !(flushed(x) >= flushed(y)); }
static int testp(float x) { return isfinite(x) ? 1 + 2 * (x && fabsf(x) < 0x1p-126f) + 4 * (!x || fabsf(x) >= 0x1p-126f) : 0; }  // zeros are normal
static float setf(float x, float y) { return x < y; }
static unsigned setu(float x, float y) { return x < y ? 0 : ~0u; }
static float frexp_(float x) {
  int exponent = 0;
  float fraction = frexpf(x, &exponent);
  return fraction + exponent;
}

// To integers: the ends of the range beyond it; NaN is 0, but the top bit from doubles or to 64 bits.
template <class T, class F> T integer(F x, int way) {
  if (isnan(x)) return sizeof(T) == 8 || sizeof(F) == 8 ? (T)1 << (8 * sizeof(T) - 1) : 0;
  long double whole = rounding(way, [=] { return rintl(x); }), end = scalbnl(1, 8 * sizeof(T) - ((T)-1 < 0));
  if ((T)-1 < 0) return whole >= end ? (T)~((T)1 << (8 * sizeof(T) - 1)) : whole < -end ? (T)((T)1 << (8 * sizeof(T) - 1)) : (T)whole;
  return whole >= end ? (T)-1 : whole <= 0 ? 0 : (T)whole;
}
// A cast, of what C leaves undefined beyond the ends.
template <class T, class F> T cast(F x) {
  long double whole = truncl(x);
  return whole == (long double)integer<T>(x, RZ) ? (T)whole : untold((T)0);
}
#define NUMBERS_IN(name, way) \
  static int __float2int_##name(float x) { return integer<int>(x, way); } \
  static unsigned __float2uint_##name(float x) { return integer<unsigned>(x, way); } \
  static ll __float2ll_##name(float x) { return integer<ll>(x, way); } \
  static ull __float2ull_##name(float x) { return integer<ull>(x, way); } \
  static int __double2int_##name(double x) { return integer<int>(x, way); } \
  static unsigned __double2uint_##name(double x) { return integer<unsigned>(x, way); } \
  static ll __double2ll_##name(double x) { return integer<ll>(x, way); } \
  static ull __double2ull_##name(double x) { return integer<ull>(x, way); } \
  static float __int2float_##name(int x) { return rounding(way, [=] { return (float)x; }); } \
  static float __uint2float_##name(unsigned x) { return rounding(way, [=] { return (float)(ll)x; }); } \
  static float __ll2float_##name(ll x) { return rounding(way, [=] { return (float)x; }); } \
  static float __ull2float_##name(ull x) { return rounding(way, [=] { return (float)(long double)x; }); } \
  static double __ll2double_##name(ll x) { return rounding(way, [=] { return (double)x; }); } \
  static double __ull2double_##name(ull x) { return rounding(way, [=] { return (double)(long double)x; }); } \
  static float __double2float_##name(double x) { return rounding(way, [=] { return (float)x; }); }
EACH_ROUNDING(NUMBERS_IN)
static double __int2double_rn(int x) { return x; }
static double __uint2double_rn(unsigned x) { return x; }
static int cvt_s8(float x) { return integer<signed char>(x, RN); }
static int cvt_u8(float x) { return integer<uchar>(x, RU); }
static short cvt_s16(float x) { return integer<short>(x, RD); }
static ushort cvt_u16(float x) { return integer<ushort>(x, RZ); }
static int cvt_s8d(double x) { return integer<signed char>(x, RN); }
static ushort cvt_u16d(double x) { return integer<ushort>(x, RZ); }
static int cvt_ftz(float x) { return integer<int>(flushed(x), RZ); }
static float cvtsat(float x) { return __saturatef(x); }
static int __float_as_int(float x) { return as<int>(x); }
static unsigned __float_as_uint(float x) { return as<unsigned>(x); }
static float __int_as_float(int x) { return as<float>(x); }
static ll __double_as_longlong(double x) { return as<ll>(x); }
static double __longlong_as_double(ll x) { return as<double>(x); }
static double fdivide(double x, double y) { return x / y; }
static int __double2loint(double x) { return as<ull>(x); }
static int __double2hiint(double x) { return as<ull>(x) >> 32; }
static double __hiloint2double(int high, int low) { return as<double>((ull)(unsigned)high << 32 | (unsigned)low); }
static float tf32(float x) { return isnan(x) ? x : (float)rounded(x, TF32, RN); }
static float tf32rna(float x) {  // ties away from zero: half a unit more, then cut
  return isnan(x) ? untold(x) : isinf(x) ? x : as<float>((as<unsigned>(x) + 0x1000) & ~0x1FFFu);
}
static Floats add2(float f, float g, float h) { return {f + h, g + f}; }
static Floats mul2(float f, float g) {
  auto product = [](float x, float y) { return flushed(__fmul_rz(flushed(x), flushed(y))); };
  return {product(f, g), product(g, f)};
}
static Floats fma2(float f, float g, float h) { return {fmaf(f, g, h), fmaf(g, h, f)}; }
static Floats fma2rz(float f, float g, float h) { return {__fmaf_rz(f, g, h), __fmaf_rz(g, g, f)}; }

// Two results of one function.  What C leaves open of infinities, of NaN and beside them is not compared.
static ull both(double x, double y) { return as<ull>(x) ^ as<ull>(y) * 3; }
static ull both(float x, float y) { return as<unsigned>(x) | (ull)as<unsigned>(y) << 32; }
static ull frexp_d(double x) {
  int exponent = 0;
  double fraction = frexp(x, &exponent);
  ull result = as<ull>(fraction) ^ (ull)exponent;
  return isfinite(x) ? result : untold(result);
}
static ull modf_(double x) {
  double whole, rest = modf(x, &whole);
  return isnan(x) ? untold(both(rest, whole)) : both(rest, whole);
}
static ull modff_(float x) {
  float whole, rest = modff(x, &whole);
  return isnan(x) ? untold(both(rest, whole)) : both(rest, whole);
}
static ull remquo_(double x, double y) {
  int quotient = 0;
  double rest = remquo(x, y, &quotient);
  ull result = as<ull>(rest) ^ (ull)(quotient & 7);
  return isnan(rest) ? untold(result) : result;
}
static ull remquof_(float x, float y) {
  int quotient = 0;
  float rest = remquof(x, y, &quotient);
  ull result = as<unsigned>(rest) | (ull)(quotient & 7) << 32;
  return isnan(rest) ? untold(result) : result;
}
static float division(float f, float g, float h) { return f / g / h; }
