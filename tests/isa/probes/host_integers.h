// Integers: CUDA's documentation of its integer and SIMD intrinsics, PTX's of the instructions.

template <class T> T least(T x, T y) { return y < x ? y : x; }
template <class T> T most(T x, T y) { return x < y ? y : x; }
template <class T> int clamped(ll x) {
  ll low = (T)-1 < 0 ? -(1ll << (8 * sizeof(T) - 1)) : 0, high = low ? -low - 1 : (1ll << (8 * sizeof(T))) - 1;
  return x < low ? low : x > high ? high : x;
}
#define min least
#define max most

// Each of the bytes or half words of two words; each(x, y) gives one, cut to its width.
template <class T, class F> unsigned packed(unsigned u, unsigned v, F each) {
  unsigned result = 0, width = 8 * sizeof(T), mask = (1u << width) - 1;
  for (unsigned at = 0; at < 32; at += width) {
    int x = (T)(u >> at), y = (T)(v >> at);
    result |= ((unsigned)each(x, y) & mask) << at;
  }
  return result;
}
template <class T, class F> unsigned summed(unsigned u, unsigned v, F each) {
  unsigned sum = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) sum += each((T)(u >> at), (T)(v >> at));
  return sum;
}
#define PACKED(name, T, formula) \
  static unsigned name(unsigned u, unsigned v = 0) { return packed<T>(u, v, [](int x, int y) { (void)y; return formula; }); }
#define EITHER(name, formula) PACKED(name##4, signed char, formula) PACKED(name##2, short, formula)
#define SIGNED(name, formula) PACKED(name##s4, signed char, formula) PACKED(name##s2, short, formula)
#define UNSIGNED(name, formula) PACKED(name##u4, uchar, formula) PACKED(name##u2, ushort, formula)
#define BOTH(name, formula) SIGNED(name, formula) UNSIGNED(name, formula)
#define CLAMPED(name, end, T4, T2, formula) \
  PACKED(name##end##4, T4, clamped<T4>(formula)) PACKED(name##end##2, T2, clamped<T2>(formula))
EITHER(__vadd, x + y) EITHER(__vsub, x - y) EITHER(__vneg, -x) EITHER(__vabs, x < 0 ? -x : x)
CLAMPED(__vadd, ss, signed char, short, x + y) CLAMPED(__vadd, us, uchar, ushort, x + y)
CLAMPED(__vsub, ss, signed char, short, x - y) CLAMPED(__vsub, us, uchar, ushort, x - y)
CLAMPED(__vneg, ss, signed char, short, -x) CLAMPED(__vabs, ss, signed char, short, x < 0 ? -x : x)
BOTH(__vabsdiff, x < y ? y - x : x - y) BOTH(__vmax, x < y ? y : x) BOTH(__vmin, x < y ? x : y)
UNSIGNED(__vavg, (x + y + 1) >> 1) UNSIGNED(__vhadd, (x + y) >> 1)
SIGNED(__vavg, (x + y + (x + y >= 0)) >> 1)
#define COMPARED(name, op) \
  BOTH(__vcmp##name, x op y ? -1 : 0) BOTH(__vset##name, x op y) EITHER(__vcmp##name, x op y ? -1 : 0) EITHER(__vset##name, x op y)
COMPARED(eq, ==) COMPARED(ne, !=) COMPARED(lt, <) COMPARED(le, <=) COMPARED(gt, >) COMPARED(ge, >=)
#define SAD(name, T) \
  static unsigned name(unsigned u, unsigned v) { return summed<T>(u, v, [](int x, int y) { return x < y ? y - x : x - y; }); }
SAD(__vsads4, signed char) SAD(__vsadu4, uchar) SAD(__vsads2, short) SAD(__vsadu2, ushort)

// Three operands: of a word, and of its half words.
template <class T, class F> unsigned packed3(unsigned u, unsigned v, unsigned w, F each) {
  return (unsigned)(ushort)each((T)u, (T)v, (T)w) | (unsigned)each((T)(u >> 16), (T)(v >> 16), (T)(w >> 16)) << 16;
}
#define THREE(name, end, T, formula) static T name##end(T x, T y, T z) { return formula; }
#define THREE2(name, end, T, formula) \
  static unsigned name##end(unsigned u, unsigned v, unsigned w) { \
    return packed3<T>(u, v, w, [](T x, T y, T z) -> T { return formula; }); \
  }
#define LADDER(name, formula) \
  THREE(name, _s32, int, formula) THREE(name, _s32_relu, int, most(0, (int)(formula))) THREE(name, _u32, unsigned, formula) \
  THREE2(name, _s16x2, short, formula) THREE2(name, _s16x2_relu, short, most((short)0, (short)(formula))) \
  THREE2(name, _u16x2, ushort, formula)
#define SUM(x, y) (decltype(x))(x + y)
LADDER(__viaddmax, most(SUM(x, y), z)) LADDER(__viaddmin, least(SUM(x, y), z))
LADDER(__vimax3, most(most(x, y), z)) LADDER(__vimin3, least(least(x, y), z))
PACKED(__vimax_s16x2_relu, short, most(0, most(x, y))) PACKED(__vimin_s16x2_relu, short, most(0, least(x, y)))
static int __vimax_s32_relu(int a, int b) { return most(0, most(a, b)); }
static int __vimin_s32_relu(int a, int b) { return most(0, least(a, b)); }
static int vib(int a, int b) { return a >= b ? a : ~b; }
static unsigned vibu(unsigned a, unsigned b) { return a <= b ? a : ~b; }
static unsigned vib16(unsigned a, unsigned b) {
  return __vmaxs2(a, b) + 2 * ((short)(a >> 16) >= (short)(b >> 16)) + ((short)a >= (short)b);
}
static unsigned vib16u(unsigned a, unsigned b) { return __vminu2(a, b) + 2 * (a >> 16 <= b >> 16) + ((ushort)a <= (ushort)b); }

template <class A, class B, class C> C dp4a(unsigned a, unsigned b, C c) {
  for (int at = 0; at < 32; at += 8) c += (A)(a >> at) * (B)(b >> at);
  return c;
}
static int __dp4a(int a, int b, int c) { return dp4a<signed char, signed char>(a, b, c); }
static unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return dp4a<uchar, uchar>(a, b, c); }
static int dp4a_su(int a, unsigned b, int c) { return dp4a<signed char, uchar>(a, b, c); }
static int __dp2a_lo(int a, int b, int c) { return c + (short)a * (signed char)b + (a >> 16) * (signed char)(b >> 8); }
static int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
static unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return c + (ushort)a * (uchar)b + (a >> 16) * (uchar)(b >> 8); }

static ull both(unsigned low, unsigned high) { return (ull)high << 32 | low; }
static unsigned __funnelshift_l(unsigned l, unsigned h, unsigned n) { return both(l, h) << (n & 31) >> 32; }
static unsigned __funnelshift_r(unsigned l, unsigned h, unsigned n) { return both(l, h) >> (n & 31); }
static unsigned __funnelshift_lc(unsigned l, unsigned h, unsigned n) { return n < 32 ? __funnelshift_l(l, h, n) : l; }
static unsigned __funnelshift_rc(unsigned l, unsigned h, unsigned n) { return n < 32 ? __funnelshift_r(l, h, n) : h; }

// PTX prmt: a byte of a:b for each of four selectors, whose bit 3 asks for its sign.
static unsigned chosen(unsigned a, unsigned b, const int *selector) {
  unsigned result = 0;
  for (int i = 0; i < 4; i++) {
    uchar byte = both(a, b) >> (8 * (selector[i] & 7));
    result |= (unsigned)(selector[i] & 8 ? (uchar)((signed char)byte >> 7) : byte) << (8 * i);
  }
  return result;
}
static unsigned prmt(unsigned a, unsigned b, int s0, int s1, int s2, int s3) {
  int selectors[] = {s0, s1, s2, s3};
  return chosen(a, b, selectors);
}
static unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { return prmt(a, b, s & 7, s >> 4 & 7, s >> 8 & 7, s >> 12 & 7); }
static unsigned prmt_f4e(unsigned a, unsigned b, unsigned c) { int n = c & 3; return prmt(a, b, n, n + 1, n + 2, n + 3); }
static unsigned prmt_b4e(unsigned a, unsigned b, unsigned c) { int n = c & 3; return prmt(a, b, n, n + 7 & 7, n + 6 & 7, n + 5 & 7); }
static unsigned prmt_rc8(unsigned a, unsigned b, unsigned c) { int n = c & 3; return prmt(a, b, n, n, n, n); }
static unsigned prmt_ecl(unsigned a, unsigned b, unsigned c) {
  int n = c & 3;
  return prmt(a, b, n, most(n, 1), most(n, 2), 3);
}
static unsigned prmt_ecr(unsigned a, unsigned b, unsigned c) {
  int n = c & 3;
  return prmt(a, b, 0, least(n, 1), least(n, 2), n);
}
static unsigned prmt_rc16(unsigned a, unsigned b, unsigned c) { int n = (c & 1) * 2; return prmt(a, b, n, n + 1, n, n + 1); }

static unsigned __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(ull x) { return __builtin_popcountll(x); }
static int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(ull x) { return x ? __builtin_clzll(x) : 64; }
static int __ffs(unsigned x) { return __builtin_ffs(x); }
static int __ffsll(ull x) { return __builtin_ffsll(x); }
static ull __brevll(ull x) {
  ull result = 0;
  for (int i = 0; i < 64; i++) result |= (x >> i & 1) << (63 - i);
  return result;
}
static unsigned __brev(unsigned x) { return __brevll(x) >> 32; }
static int __hadd(int a, int b) { return ((ll)a + b) >> 1; }
static int __rhadd(int a, int b) { return ((ll)a + b + 1) >> 1; }
static unsigned __uhadd(unsigned a, unsigned b) { return ((ull)a + b) >> 1; }
static unsigned __urhadd(unsigned a, unsigned b) { return ((ull)a + b + 1) >> 1; }
static int __mul24(int a, int b) { return (a << 8 >> 8) * (ll)(b << 8 >> 8); }
static unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (ull)(b & 0xFFFFFF); }
static int __mulhi(int a, int b) { return (ll)a * b >> 32; }
static unsigned __umulhi(unsigned a, unsigned b) { return (ull)a * b >> 32; }
static ll __mul64hi(ll a, ll b) { return (__int128)a * b >> 64; }
static ull __umul64hi(ull a, ull b) { return (unsigned __int128)a * b >> 64; }
static unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
static unsigned __sad(int a, int b, unsigned c) { return (a < b ? (unsigned)b - a : (unsigned)a - b) + c; }
#undef abs
static int abs(int a) { return a < 0 ? -a : a; }
static ll llabs(ll a) { return a < 0 ? -a : a; }

// C says nothing of division by zero; of the least number divided by -1 the compiler makes what wraps around.
template <class T> T quotient(T x, T y) { return !y ? untold(y) : y == (T)-1 && (T)-1 < 0 ? -x : x / y; }
template <class T> T remainder_of(T x, T y) { return !y ? untold(y) : y == (T)-1 && (T)-1 < 0 ? 0 : x % y; }
// Nor of shifts by the width or more: the machine's instructions leave nothing but signs.
template <class T> T left(T x, unsigned n) { return n < 8 * sizeof(T) ? x << n : 0; }
template <class T> T right(T x, unsigned n) { return n < 8 * sizeof(T) ? x >> n : x < 0 ? (T)-1 : 0; }

static unsigned fns(unsigned mask, unsigned base, int offset) {
  if (offset == (int)0x80000000) return untold(0);
  int step = offset < 0 ? -1 : 1, count = offset ? (offset < 0 ? -offset : offset) - 1 : 0;
  for (ll at = base; at >= 0 && at < 32; at += step) {
    if (mask >> at & 1 && count-- == 0) return at;
    if (!offset) break;
  }
  return ~0u;
}
template <class T> T field(T x, unsigned position, unsigned length) {
  position &= 255, length &= 255;
  bool below = (T)-1 < 0;
  if (!length) return 0;
  unsigned last = least(position + length - 1, 31u), result = 0;
  bool sign = below && (unsigned)x >> last & 1;
  for (unsigned i = 0; i < 32; i++) result |= (i < length && position + i <= 31 ? (unsigned)x >> (position + i) & 1 : sign) << i;
  return result;
}
static unsigned bfe(unsigned x, unsigned position, unsigned length) { return field(x, position, length); }
static int bfes(int x, unsigned position, unsigned length) { return field(x, position, length); }
static unsigned bfi(unsigned from, unsigned to, unsigned position, unsigned length) {
  position &= 255, length &= 255;
  for (unsigned i = 0; i < length && position + i < 32; i++)
    to = (to & ~(1u << (position + i))) | (i < 32 ? from >> i & 1 : 0) << (position + i);
  return to;
}
static ll sel64(bool p, ll l, ll m) { return p ? l : m; }
static unsigned bfind(unsigned x) { return 31 - __clz(x); }
static unsigned bfinds(int x) { return 31 - __clz(x < 0 ? ~x : x); }
static int szext(int x, unsigned width) { return !width ? 0 : width >= 32 ? x : x << (32 - width) >> (32 - width); }
static unsigned bmsk(unsigned from, unsigned width) {
  return left(width < 32 ? (1u << width) - 1 : ~0u, from);
}
static int isspace(const void *) { return 8; }  // in global memory
static ull add3(ull a, ull b, ull c) { return a + b + c; }
static ll mad64(ll a, ll b, ll c) { return a * b + c; }
static unsigned madcc(unsigned a, unsigned b, unsigned c) {
  ull low = (ull)(a * b) + c;
  unsigned high = __umulhi(a, b) + c + (unsigned)(low >> 32);
  return (unsigned)low ^ high;
}
static unsigned subc(unsigned a, unsigned b, unsigned c) { return (a - b) ^ (c - b - (a < b)); }
static unsigned lop3(unsigned a, unsigned b, unsigned c) {
  unsigned result = 0;
  for (int i = 0; i < 32; i++) result |= (0x6Bu >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
  return result;
}
static int satadd(int a, int b) { return clamped<int>((ll)a + b); }
static int satsub(int a, int b) { return clamped<int>((ll)a - b); }
static int slct(int a, int b, float c) { return c >= 0 ? a : b; }
// Where PTX says the lane is out of range, it keeps its own value.
static int shfl(int own, int from) {
  int lane = (row - table) / 16 % 32;
  auto of = [=](int other) { return (int)row[16 * (other - lane)]; };
  return of(from & 31) + (lane >= 3 ? of(lane - 3) : own) + ((lane & 7) + 3 < 8 ? of(lane + 3) : own) + of(lane ^ 5);
}

// Beside CUDA's names: C's of other widths, predicates of the smaller and larger one, 128 bits, bytes turned round.
static long labs(long a) { return a < 0 ? -a : a; }
static unsigned umin(unsigned a, unsigned b) { return least(a, b); }
static unsigned umax(unsigned a, unsigned b) { return most(a, b); }
static ll llmin(ll a, ll b) { return least(a, b); }
static ll llmax(ll a, ll b) { return most(a, b); }
static ull ullmin(ull a, ull b) { return least(a, b); }
static ull ullmax(ull a, ull b) { return most(a, b); }
static int __vibmin_s32_(int a, int b) { return a <= b ? a : ~b; }
static unsigned __vibmax_u32_(unsigned a, unsigned b) { return a >= b ? a : ~b; }
static unsigned __vibmin_s16x2_(unsigned a, unsigned b) {
  return __vmins2(a, b) + 2 * ((short)(a >> 16) <= (short)(b >> 16)) + ((short)a <= (short)b);
}
static unsigned __vibmax_u16x2_(unsigned a, unsigned b) { return __vmaxu2(a, b) + 2 * (a >> 16 >= b >> 16) + ((ushort)a >= (ushort)b); }
static ull wide(int a, int b, int c) {
  __int128 r = (__int128)a * b * c * ((ull)b << 7);
  return (ull)(r >> 64) ^ (ull)r;
}
static ull wide_quotient(ll l, ll m, int a) {
  __int128 n = (__int128)l << 64 | m, d = a | 1;
  return (ull)(n / d) ^ (ull)(n % d) * 3;
}
static ull wide_shift(ull y, ull z, int a) {
  unsigned __int128 n = (unsigned __int128)y << 64 | z;
  return (ull)(n >> (a & 127)) ^ (ull)((n << (a & 127)) >> 64);
}
static ushort __nv_bswap16(ushort x) { return __builtin_bswap16(x); }
static unsigned __nv_bswap32(unsigned x) { return __builtin_bswap32(x); }
static ull __nv_bswap64(ull x) { return __builtin_bswap64(x); }
