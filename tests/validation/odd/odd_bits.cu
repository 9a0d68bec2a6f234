// Integer intrinsics, packed words, odd structures: kernels in forms that the other files do not have.
// /// warplens
// n = 5003
// [video_words]
// grid = "ceil(n / 160)"
// block = 160
// args = ["random:u32[n]", "random:u32[n]", "zeros:u32[n]", "n"]
// [dot_products]
// grid = 6
// block = 192
// args = ["random:u32[n]", "random:u32[n]", "zeros:i32[n]", "n"]
// [funnels]
// grid = "ceil(n / 256)"
// block = 256
// args = ["random:u32[n]", "random:u32[n]", "zeros:u64[n]", "n"]
// [wide_integers]
// grid = "ceil(n / 128)"
// block = 128
// args = ["random:u64[n]", "random:u64[n]", "zeros:u64[2*n]", "n"]
// [fields_of_bits]
// grid = "ceil(n / 224)"
// block = 224
// args = ["random:u32[2*n]", "zeros:u32[2*n]", "zeros:i32[4]", "n"]
// [packed_records]
// grid = "ceil(n / 96)"
// block = 96
// args = ["random:u8[11*n+16](0,255)", "zeros:u8[11*n+16]", "n"]
// [gray_morton]
// grid = [5, 3]
// block = [32, 6]
// args = ["zeros:u64[160*18]", "zeros:u32[160*18]"]
// [exact_halves]
// grid = "ceil(n / 64)"
// block = 64
// args = ["random:i32[n]", "zeros:i32[n]", "zeros:i64[n]", "n"]
// ///
extern "C" __global__ void video_words(const unsigned* x, const unsigned* y, unsigned* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned a = x[i], b = y[i], r = 0;
  switch (i & 7) {
    case 0: r = __vadd4(a, b) ^ __vabsdiffu4(a, b); break;
    case 1: r = __vaddss2(a, b) ^ __vmaxs2(a, b); break;
    case 2: r = __vcmpgtu4(a, b) & __vavgu4(a, b); break;
    case 3: r = __vsubus4(a, b) + __vminu2(a, b); break;
    case 4: r = __vsads4(a, b) + __vsetles2(a, b); break;
    case 5: r = __vabs2(a) ^ __vneg4(b) ^ __vhaddu2(a, b); break;
    case 6: r = __vibmax_s16x2(a, b, (bool*)&r, (bool*)&r + 1); break;
    default: r = __vimax3_s32(a, b, (int)(a ^ b)) ^ __viaddmax_s16x2_relu(a, b, a); break;
  }
  z[i] = r ^ __vseteq4(a & 0x0f0f0f0f, b & 0x0f0f0f0f);
}
extern "C" __global__ void dot_products(const unsigned* x, const unsigned* y, int* z, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int s = __dp4a((int)x[i], (int)y[i], 7) + (int)__dp4a(x[i], y[i], 3u);
    s += __dp2a_lo((int)x[i], (int)y[i], s) - __dp2a_hi((int)y[i], (int)x[i], 5);
    s ^= (int)__dp2a_lo(x[i], y[i], 9u);
    int m;
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(m) : "r"(x[i]), "r"(y[i]), "r"(s));
    z[i] = m + __sad((int)x[i], (int)y[i], 3u) + __mul24((int)x[i], (int)y[i]) + __umul24(x[i], 77);
  }
}
extern "C" __global__ void funnels(const unsigned* x, const unsigned* y, unsigned long long* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned a = x[i], b = y[i], c = 0;
  c += __funnelshift_l(a, b, b) + __funnelshift_r(a, b, a) + __funnelshift_lc(a, b, b & 63) + __funnelshift_rc(b, a, a & 63);
  c ^= __byte_perm(a, b, a & 0x7777) + __byte_perm(a, b, 0x6240) + __brev(a);
  c += __ffs(b & 0xff00) * 3 + __clz(a >> (b & 31)) + __popc(a ^ b) + __fns(a, b & 31, 1 + (a & 3));
  unsigned long long w = ((unsigned long long)a << 32) | b;
  w = __brevll(w) ^ (w << (a & 63)) ^ (w >> (b & 63)) ^ ((long long)w >> (c & 63));
  int f = __ffsll(w & 0xfff0000), l = __clzll(w), p = __popcll(w);
  unsigned e, s;
  asm("bfe.u32 %0, %2, %3, 9;\n bfi.b32 %1, %2, %4, %3, 5;" : "=r"(e), "=r"(s) : "r"(a), "r"(b & 31), "r"(b));
  asm("szext.wrap.s32 %0, %1, %2;" : "=r"(f) : "r"(a), "r"(b & 31));
  unsigned mask, big;
  asm("bmsk.clamp.b32 %0, %2, %3;\n bfind.shiftamt.u32 %1, %2;" : "=r"(mask), "=r"(big) : "r"(a & 31), "r"(b & 63));
  z[i] = w + c + f * 5 + l + p + e + s + (mask ^ big);
}
extern "C" __global__ void wide_integers(const unsigned long long* x, const unsigned long long* y, unsigned long long* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned __int128 a = ((unsigned __int128)x[i] << 64) | y[i], b = ((unsigned __int128)y[i] << 40) | (x[i] | 1);
  unsigned __int128 c = a * b + (a >> (x[i] & 127)) - (b << (y[i] & 127));
  if (x[i] & 1) c ^= a / (b >> 50);
  else c += a % ((unsigned __int128)(y[i] | 3));
  __int128 d = (__int128)c >> 17;
  if (d < 0) d = -d + (__int128)__mul64hi((long long)x[i], (long long)y[i]);
  d += __umul64hi(x[i], y[i]);
  z[2 * i] = (unsigned long long)d;
  z[2 * i + 1] = (unsigned long long)(d >> 64) ^ (a > b);
}
struct Fields { unsigned kind : 3; int value : 13; unsigned flag : 1; int more : 15; unsigned long long wide : 37, rest : 27; };
struct Pair { unsigned low : 12, mid : 9; int high : 11; };
extern "C" __global__ void fields_of_bits(const unsigned* x, unsigned* z, int* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Pair p; memcpy(&p, x + i, 4);
  Pair q; memcpy(&q, x + n + i, 4);
  Fields f{};
  f.kind = p.low + q.mid; f.value = p.high * q.high; f.flag = p.low > q.low; f.more = q.high - (int)p.mid;
  f.wide = (unsigned long long)p.low * q.low * 1000003ull; f.rest = q.mid;
  p.mid ^= f.kind; p.high += f.value; q.low = (unsigned)f.wide; q.high = f.more;
  if (f.flag) p.low = f.rest; else q.mid -= f.kind;
  memcpy(z + i, &p, 4); memcpy(z + n + i, &q, 4);
  atomicAdd(&sums[f.kind & 3], f.value);
}
#pragma pack(push, 1)
struct Record { unsigned char tag; int a; short b; float c; };
#pragma pack(pop)
extern "C" __global__ void packed_records(const unsigned char* x, unsigned char* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Record r; memcpy(&r, x + 11 * i, 11);
  r.a = r.a * 3 + r.tag; r.b ^= (short)r.a; r.tag = (unsigned char)(r.a >> 9);
  int c; memcpy(&c, &r.c, 4); c = __brev(c); memcpy(&r.c, &c, 4);
  Record* to = (Record*)(z + 11 * i);
  to->tag = r.tag; to->a = r.a; to->b = r.b; memcpy(&to->c, &r.c, 4);
}
__device__ unsigned long long spread(unsigned v) {
  unsigned long long w = v;
  for (int s = 16; s; s >>= 1) {
    const unsigned long long m = s == 16 ? 0x0000ffff0000ffffull : s == 8 ? 0x00ff00ff00ff00ffull : s == 4 ? 0x0f0f0f0f0f0f0f0full : s == 2 ? 0x3333333333333333ull : 0x5555555555555555ull;
    w = (w | (w << s)) & m;
  }
  return w;
}
extern "C" __global__ void gray_morton(unsigned long long* keys, unsigned* gray) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 6 + threadIdx.y, i = y * 160 + x;
  unsigned g = i ^ (i >> 1), v = g;
  while (v >>= 1) g ^= v;
  keys[i] = spread(x * 7919) | (spread(y * 104729) << 1);
  gray[i] = g + __popc(i) * 1000 + (i % 7 == 3 ? __ffs(i) : i / 13);
}
extern "C" __global__ void exact_halves(const int* x, int* z, long long* w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = x[i], b = x[(i * 7 + 3) % n];
  z[i] = __hadd(a, b) - __rhadd(a, b) + (int)__uhadd(a, b) * 3 + (int)__urhadd(b, a) + __mulhi(a, b) + (int)__umulhi(a, b);
  long long s = (long long)a * b / ((b & 0xfff) | 1) + a % ((b >> 20) | 1);
  int carry;
  asm("{ .reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, %1, 5; }" : "=r"(carry) : "r"(a), "r"(b));
  asm("{ mad.lo.cc.s32 %0, %1, %2, %0; madc.hi.s32 %0, %1, %2, %0; }" : "+r"(carry) : "r"(a), "r"(b));
  short h = (short)a, k = (short)(b | 1);
  w[i] = s + carry + h / k + (unsigned char)a % (unsigned char)(b | 1) + llabs((long long)a * b) % 1000003;
}
