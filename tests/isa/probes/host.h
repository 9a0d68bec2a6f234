// What the expressions of expressions.txt are written in, for a compiler of the host: numbers, rounding, results.
//
// Nothing here is taken from the executor: floats are the host's own in the rounding that is asked for, narrower
// floats are computed in wider ones and rounded once, where the wider one is exact or rounded to odd.
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef unsigned long long ull;
typedef long long ll;
typedef unsigned char uchar;
typedef unsigned short ushort;

template <class To, class From> To as(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

struct Rounding {
  explicit Rounding(int way) { fesetround(way); }
  ~Rounding() { fesetround(FE_TONEAREST); }
};
template <class F> auto rounding(int way, F compute) {
  Rounding set(way);
  return compute();
}
#define RN FE_TONEAREST
#define RZ FE_TOWARDZERO
#define RU FE_UPWARD
#define RD FE_DOWNWARD

// A binary format: digits with the leading one, exponent of the least normal number, the largest number.
struct Format {
  int digits, least;
  long double most;
};
const Format HALF = {11, -14, 65504}, BFLOAT = {8, -126, 0x1.FEp127L}, TF32 = {11, -126, 0x1.FFCp127L};
const Format E4M3 = {4, -6, 448}, E5M2 = {3, -14, 57344};

static long double rounded(long double x, Format to, int way) {
  if (x == 0 || isnan(x) || isinf(x)) return x;
  int exponent = ilogbl(x);
  int unit = (exponent < to.least ? to.least : exponent) - (to.digits - 1);
  long double whole = rounding(way, [=] { return rintl(scalbnl(x, -unit)); });
  long double result = copysignl(scalbnl(whole, unit), x);
  if (fabsl(result) <= to.most) return result;
  bool stays = way == RZ || way == (x > 0 ? RD : RU);
  return copysignl(stays ? to.most : INFINITY, x);
}

// x + y, one bit of it telling whether the rest was cut off: rounding it again is rounding once.
static double odd_sum(double x, double y) {
  double sum = x + y, back = sum - x, rest = (x - (sum - back)) + (y - back);
  if (rest == 0 || isnan(rest) || isinf(sum) || as<ull>(sum) & 1) return sum;
  return as<double>(as<ull>(sum) + ((rest > 0) == (sum > 0) ? 1 : -1));
}

struct Half {
  ushort word;
};
struct Bfloat {
  ushort word;
};

// The bits of a number that the format holds exactly.
static unsigned encoded(long double x, Format of, int bits) {
  int stored = of.digits - 1;
  unsigned sign = signbit(x) ? 1u << (bits - 1) : 0, infinity = ((1u << (bits - 1)) - 1) >> stored << stored;
  if (isnan(x)) return (1u << (bits - 1)) - 1;
  if (isinf(x)) return sign | infinity;
  x = fabsl(x);
  if (x < scalbnl(1, of.least)) return sign | (unsigned)scalbnl(x, stored - of.least);
  int exponent = ilogbl(x);
  return sign | ((unsigned)(exponent - of.least) << stored) + (unsigned)scalbnl(x, stored - exponent);
}
static double decoded(unsigned word, Format of, int bits) {
  int stored = of.digits - 1;
  unsigned field = (word & ((1u << (bits - 1)) - 1)) >> stored, last = (1u << (bits - 1 - stored)) - 1;
  double fraction = word & ((1u << stored) - 1), sign = word >> (bits - 1) & 1 ? -1 : 1;
  if (field == last) return fraction ? copysign(NAN, sign) : sign * INFINITY;
  return sign * (field ? scalbn(fraction + (1 << stored), (int)field - 1 + of.least - stored)
                       : scalbn(fraction, of.least - stored));
}

static double number(Half x) { return decoded(x.word, HALF, 16); }
static double number(Bfloat x) { return as<float>((unsigned)x.word << 16); }
static Half half(long double x, int way = RN) { return {(ushort)encoded(rounded(x, HALF, way), HALF, 16)}; }
static Bfloat bfloat(long double x, int way = RN) { return {(ushort)encoded(rounded(x, BFLOAT, way), BFLOAT, 16)}; }
static void put(Half *to, long double x) { *to = half(x); }
static void put(Bfloat *to, long double x) { *to = bfloat(x); }

template <class H> struct Pair {
  H low, high;
};
typedef Pair<Half> __half2;
typedef Pair<Bfloat> __nv_bfloat162;
typedef Half __half;
typedef Bfloat __nv_bfloat16;
struct Floats {
  float x, y;
};

// Results, and what they are: any NaN is as good as another, where the executor's and the host's are both one.
enum Kind { INTEGER, FLOAT, DOUBLE, HALVES, BFLOATS, FLOATS, HALF_, BFLOAT_ };
template <class T> ull bits(T x) { return (ull)x; }
static ull bits(int x) { return (unsigned)x; }
static ull bits(short x) { return (ushort)x; }
static ull bits(signed char x) { return (uchar)x; }
static ull bits(float x) { return as<unsigned>(x); }
static ull bits(double x) { return as<ull>(x); }
static ull bits(Half x) { return x.word; }
static ull bits(Bfloat x) { return x.word; }
static ull bits(__half2 x) { return as<unsigned>(x); }
static ull bits(__nv_bfloat162 x) { return as<unsigned>(x); }
static ull bits(Floats x) { return as<ull>(x); }
template <class T> Kind kind(T) { return INTEGER; }
static Kind kind(float) { return FLOAT; }
static Kind kind(double) { return DOUBLE; }
static Kind kind(__half2) { return HALVES; }
static Kind kind(__nv_bfloat162) { return BFLOATS; }
static Kind kind(Floats) { return FLOATS; }
static Kind kind(Half) { return HALF_; }
static Kind kind(Bfloat) { return BFLOAT_; }

// Which row of the inputs is computed: other lanes' values are those of other rows.
static const ull *table, *row;

// Whether C, CUDA and PTX say what comes out; where they do not, nothing is compared.
static bool told;
template <class T> T untold(T x) {
  told = false;
  return x;
}

#define PROBE(name, expression)                                                                    \
  extern "C" int name(const ull *in, ull *results, bool *compared, int count) {                              \
    int of = 0;                                                                                    \
    table = in;                                                                                    \
    for (int i = 0; i < count; i++) {                                                              \
      row = in + 16 * i;                                                                           \
      int a = row[0], b = row[1], c = row[2];                                                      \
      unsigned u = a, v = b, w = c;                                                                \
      ll l = row[3], m = row[4];                                                                   \
      ull y = l, z = m;                                                                            \
      float f = as<float>((unsigned)row[5]), g = as<float>((unsigned)row[6]), h = as<float>((unsigned)row[7]); \
      double d = as<double>(row[8]), e = as<double>(row[9]), x = as<double>(row[10]);              \
      __half2 s = as<__half2>((unsigned)row[11]), t = as<__half2>((unsigned)row[12]), q = as<__half2>((unsigned)row[13]); \
      __nv_bfloat162 o = as<__nv_bfloat162>(s), i2 = as<__nv_bfloat162>(t), k = as<__nv_bfloat162>(q); \
      bool p = row[14];                                                                            \
      told = true;                                                                                 \
      auto result = expression;                                                                    \
      compared[i] = told;                                                                          \
      results[i] = bits(result);                                                                   \
      of = kind(result);                                                                           \
      (void)(a + b + c + u + v + w + l + m + y + z + f + g + h + d + e + x + p + bits(s) + bits(t) + bits(q) + \
             bits(o) + bits(i2) + bits(k));                                                        \
    }                                                                                              \
    return of;                                                                                     \
  }
