// What the kernels of tests/kernels compute with numbers alone (k02, k03, k09, k11, k35), one thread after the other.
#include <math.h>
#include <stdint.h>
#include <string.h>

void i64(const int64_t *a, const uint64_t *b, int64_t *o, uint64_t *u, int n) {
  for (int i = 0; i < n; i++) {
    int64_t x = a[i], y = a[i + n];
    uint64_t p = b[i], q = b[i + n];
    int64_t r = x + y;
    r ^= x - y; r += x * y; r ^= x / y; r += x % y;
    r ^= (int64_t)(((__int128)x * y) >> 64);
    r += x < y ? x : y; r ^= x > y ? x : y;
    r += x >> (p & 63); r ^= (int64_t)((uint64_t)x << (q & 63)); r += x < 0 ? -x : x;
    uint64_t s = p + q;
    s ^= p * q; s += p / q; s ^= p % q;
    s += (uint64_t)(((unsigned __int128)p * q) >> 64);
    s ^= p < q ? p : q; s += p >> (q & 63); s ^= p >> 7; s += p << 13; s ^= x < y; s += p < q;
    s ^= (uint64_t)(uint32_t)p * (uint32_t)q;
    s += (uint64_t)((int64_t)(int32_t)x * (int32_t)y);
    s ^= p / 1000;
    o[i] = r;
    u[i] = s;
  }
}

// NaN gives way to a number, and -0 is below +0.
static float least(float a, float b) {
  if (isnan(a) || (a == b && signbit(b))) return b;
  return isnan(b) || a <= b ? a : b;
}
static float most(float a, float b) { return -least(-a, -b); }
static float saturated(float x) { return x >= 1 ? 1 : x > 0 ? x : 0; }
static float dim(float x, float y) { return isnan(x) || isnan(y) ? x + y : x > y ? x - y : 0; }

// rounded: x + y towards 0, x * z upwards, x * y + z downwards, each n values.
void f32(const float *a, const float *rounded, float *o, int n, int fused) {
  for (int i = 0; i < n; i++) {
    float x = a[i], y = a[i + n], z = a[i + 2 * n];
    float up = rounded[i + n], down = rounded[i + 2 * n];
    float r = fused ? fmaf(x + y, x - y, x / y) : (x + y) * (x - y) + x / y;
    r = fmaf(r, x, z);
    r += least(x, y);
    r = fused ? fmaf(r, most(y, z), -fabsf(x)) : r * most(y, z) - fabsf(x);
    r += -y;
    r += rounded[i];
    r = fused ? fmaf(r, up, down) : r * up + down;
    r += saturated(x); r += fmodf(x, y); r += remainderf(x, y);
    r = fused ? fmaf(x, 1.0f / y, r) : r + x / y;  // __fdividef: y is a power of two
    r += 1.0f / z;
    r += copysignf(x, y); r += dim(x, y);
    o[i] = r;
    o[i + n] = x < y ? x : z;
    o[i + 2 * n] = (x == y) + (x != z) * 2 + (y >= z) * 4;
    o[i + 3 * n] = isnan(x) ? 0 : 1;
    o[i + 4 * n] = isinf(y) ? 0 : 2;
    o[i + 5 * n] = x < y && y < z ? x : y;
    o[i + 6 * n] = least(least(x, y), z);
    o[i + 7 * n] = fused ? fmaf(x, 2.5f, 1) : x * 2.5f + 1;
    o[i + 8 * n] = fmaf(x, -y, fabsf(z));
  }
}

void multiply_add(const float *a, const float *b, const float *c, float *o, int n) {
  for (int i = 0; i < n; i++) o[i] = fmaf(a[i], b[i], c[i]);
}

static unsigned shifted_left(unsigned x, unsigned n) { return n > 31 ? 0 : x << n; }
static unsigned shifted_right(unsigned x, unsigned n) { return n > 31 ? 0 : x >> n; }
static unsigned ones(unsigned n) { return n > 31 ? ~0u : (1u << n) - 1; }
static unsigned reversed(unsigned x) {
  unsigned r = 0;
  for (int k = 0; k < 32; k++) r |= (x >> k & 1) << (31 - k);
  return r;
}
static unsigned population(uint64_t x) { unsigned c = 0; for (; x; x &= x - 1) c++; return c; }
static unsigned leading(uint64_t x, int bits) { unsigned c = 0; while (c < bits && !(x >> (bits - 1 - c) & 1)) c++; return c; }
static unsigned first_set(uint64_t x) { unsigned c = 0; if (!x) return 0; while (!(x >> c & 1)) c++; return c + 1; }
static unsigned permuted(unsigned x, unsigned y, unsigned s) {
  uint64_t pair = (uint64_t)y << 32 | x;
  unsigned r = 0;
  for (int k = 0; k < 4; k++) r |= (unsigned)(pair >> 8 * (s >> 4 * k & 7) & 255) << 8 * k;
  return r;
}
static uint64_t joined(unsigned low, unsigned high) { return (uint64_t)high << 32 | low; }
static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

// PTX ISA 9.7.1: bfe, bfi, bfind, fns, bmsk, szext.
static unsigned extracted(unsigned x, unsigned at, unsigned len, int is_signed) {
  at &= 255; len &= 255;
  unsigned msb = 31, sign = 0, r = 0;
  if (is_signed && len) sign = x >> smaller(at + len - 1, msb) & 1;
  for (unsigned k = 0; k <= msb; k++) r |= (k < len && at + k <= msb ? x >> (at + k) & 1 : sign) << k;
  return r;
}
static unsigned inserted(unsigned x, unsigned into, unsigned at, unsigned len) {
  at &= 255; len &= 255;
  for (unsigned k = 0; k < len && at + k < 32; k++) into = (into & ~(1u << (at + k))) | (x >> k & 1) << (at + k);
  return into;
}
static unsigned found(int x) {
  unsigned v = x < 0 ? ~x : x;
  return v ? 31 - leading(v, 32) : ~0u;
}
static unsigned nth_set(unsigned mask, unsigned base, int offset) {
  if (base > 31) return ~0u;  // PTX: undefined; asked only of bases in range
  if (offset == 0) return mask >> base & 1 ? base : ~0u;
  int at = (int)base, step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
  for (; at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) && --left == 0) return at;
  return ~0u;
}
static unsigned extended(unsigned x, unsigned n) {
  n &= 31;
  return n == 0 ? 0 : (unsigned)((int)(x << (32 - n)) >> (32 - n));
}

void bits(const unsigned *a, const uint64_t *l, unsigned *o, int n) {
  for (int i = 0; i < n; i++) {
    unsigned x = a[i], y = a[i + n], z = a[i + 2 * n];
    uint64_t w = l[i];
    unsigned v[] = {
      population(x), leading(x, 32), first_set(x), reversed(x), permuted(x, y, z), permuted(x, y, 0x5410),
      (unsigned)(joined(x, y) << (z & 31) >> 32), (unsigned)(joined(x, y) >> (z & 31)),
      (unsigned)(smaller(z, 32) == 32 ? x : joined(x, y) << smaller(z, 32) >> 32), (unsigned)(joined(x, y) >> 5),
      x >> 7 & 31, (x & y) | (~x & z), x ^ y ^ z, x << (y & 31), x >> (y & 31), (unsigned)((int)x >> (y & 31)),
      x << 7 | x >> 25, population(w), leading(w, 64), first_set(w), reversed(w >> 32), shifted_left(x, y), shifted_right(x, y),
      extracted(x, y, z, 0), extracted(x, y, z, 1), inserted(x, y, z, n), found((int)x), nth_set(x, y, (int)z),
      shifted_left(ones(y), x), extended(x, y), nth_set(x, 1, 2), ~x, x & 0xff00,
      (x >> 8 & 255) + (y >> 16 & 255) * 3, (unsigned)((int)(x << 16) >> 24)};
    for (int k = 0; k < (int)(sizeof v / sizeof *v); k++) o[i + k * n] = v[k];
  }
}

static int half_of(unsigned x, int k) { return (int16_t)(x >> 16 * k); }
static int byte_of(unsigned x, int k) { return (int8_t)(x >> 8 * k); }
static int larger_int(int a, int b) { return a > b ? a : b; }
static int smaller_int(int a, int b) { return a < b ? a : b; }

void simd(const unsigned *a, unsigned *o, int n, int threads) {
  for (int i = 0; i < threads; i++) {
    unsigned x = a[i], y = a[i + n], z = a[i + 2 * n], v[16] = {0};
    int sum = 0;
    for (int k = 0; k < 4; k++) {
      int p = byte_of(x, k), q = byte_of(y, k), pu = p & 255, qu = q & 255, d = pu > qu ? pu - qu : qu - pu;
      v[0] |= (unsigned)((pu + qu) & 255) << 8 * k;
      v[1] |= (unsigned)d << 8 * k;
      v[3] |= (pu > qu ? 255u : 0) << 8 * k;
      sum += p > q ? p - q : q - p;
      v[4] += (unsigned)(p * q);
      v[5] += (unsigned)(pu * qu);
    }
    for (int k = 0; k < 2; k++) {
      int p = half_of(x, k), q = half_of(y, k), r = half_of(z, k);
      v[2] |= (unsigned)(larger_int(p, q) & 0xffff) << 16 * k;
      v[6] += (unsigned)(p * byte_of(y, k));
      v[7] += (unsigned)((p & 0xffff) * (byte_of(y, k + 2) & 255));
      v[8] |= smaller(p & 0xffff, q & 0xffff) << 16 * k;
      v[12] |= (unsigned)(larger_int(smaller_int((int16_t)(p + q), r), 0) & 0xffff) << 16 * k;
    }
    for (int k = 4; k < 8; k++) v[k] += z;
    v[9] = sum;
    v[10] = larger_int((int)(x + y), (int)z);
    v[11] = larger_int(larger_int((int)x, (int)y), (int)z);
    v[13] = larger_int(smaller_int((int)x, (int)y), 0);
    v[14] = larger_int((int)x, (int)y);
    v[15] = (int)x >= (int)y;
    for (int k = 0; k < 16; k++) o[i + k * n] = v[k];
  }
}

void loc(const int *a, int *o, int n, int threads) {
  for (int i = 0; i < threads; i++) {
    int t[40], s = 0;
    for (int k = 0; k < 40; k++) t[k] = a[i + k * n];
    for (int k = 0; k < n; k++) { s += t[(s + k + i) % 40]; t[s & 31] = s; }
    o[i] = s;
  }
}

void locv(const int *a, int *o, const uint8_t *b, int n, int threads) {
  for (int i = 0; i < threads; i++) {
    int t[8][4], r[4];
    uint8_t c[32];
    double d[4];
    memcpy(t, a + 4 * i, sizeof t);
    memcpy(c, b + i, sizeof c);
    for (int k = 0; k < 4; k++) d[k] = b[i + k + 99];
    memcpy(r, t[n & 7], sizeof r);
    t[(n + i) & 7][0] = 5;
    memcpy(t[(i * 3) & 7], r, sizeof r);
    memcpy(r, t[(n * i) & 7], sizeof r);
    r[0] += c[(n ^ i) & 31]; c[(n * 5) & 31] = i; r[1] += c[i & 31]; d[i & 3] += 1.5; r[2] += (int)d[n & 3];
    memcpy(o + 4 * i, r, sizeof r);
  }
}

void spill(const float *a, float *o, int threads) {
  for (int i = 0; i < threads; i++) {
    float v[64];
    for (int k = 0; k < 64; k++) v[k] = a[i + k * 1024];
    for (int r = 0; r < 3; r++)
      for (int k = 0; k < 64; k++) v[k] = fmaf(v[k], v[(k * 7 + 3) & 63], v[(k * 5 + 1) & 63]);
    for (int k = 0; k < 64; k++) o[i + k * 1024] = v[k];
  }
}

void uni(const float *a, float *o, int n, int m, float *s, int grid) {
  for (int block = 0; block < grid; block++) {
    float acc = 0;
    for (int r = 0; r < n; r++) {
      int base = r * m + block, sh = (r << 2) ^ (m >> 1);
      acc = r % 3 == 0 ? fmaf(a[base], *s, acc) : acc - a[base + 1];
      if (sh > n) acc *= a[sh];
    }
    o[block] = acc;
  }
}
