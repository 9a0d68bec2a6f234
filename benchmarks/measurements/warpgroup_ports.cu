// Kernels of warpgroup_ports.py: `products` warpgroups of a block multiply `groups` times 8 times, in one of the forms
// below; the others do rounds of 96 multiply-adds, which warpgroup_ports.py replaces by other instructions, for `cycles`.
#include "warpgroup_clock.cuh"

typedef unsigned long long u64;

#define R4(d, i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define R16(d, i) R4(d, i), R4(d, i + 4), R4(d, i + 8), R4(d, i + 12)
#define R32(d) R16(d, 0), R16(d, 16)
#define R64(d) R32(d), R16(d, 32), R16(d, 48)
#define R128(d) R64(d), R16(d, 64), R16(d, 80), R16(d, 96), R16(d, 112)
#define N32 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define N64 N32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define N128 N64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define SHARED_FORM(name, shape, words, NAMES, LIST, a, b, adds, tail) \
  struct name { \
    enum { WORDS = words }; \
    DEVICE static void multiply(unsigned (&d)[words], const unsigned (&f)[4], u64 at) { \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, " adds ", 0; wgmma.mma_async.sync.aligned." shape " " NAMES "}, %" a ", %" b ", p" tail "; }" : LIST(d) : "l"(at), "l"(at)); \
    } \
  };
#define REGISTER_FORM(name, shape, words, NAMES, LIST, f0, f1, f2, f3, b, tail) \
  struct name { \
    enum { WORDS = words }; \
    DEVICE static void multiply(unsigned (&d)[words], const unsigned (&f)[4], u64 at) { \
      asm volatile("{ wgmma.mma_async.sync.aligned." shape " " NAMES "}, {%" f0 ",%" f1 ",%" f2 ",%" f3 "}, %" b ", 1" tail "; }" : LIST(d) : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "l"(at)); \
    } \
  };
#define FLOATS ", 1, 1, 0, 0"
#define NARROW ", 1, 1"
SHARED_FORM(Bf16, "m64n128k16.f32.bf16.bf16", 64, N64, R64, "64", "65", "1", FLOATS)
REGISTER_FORM(Bf16Registers, "m64n128k16.f32.bf16.bf16", 64, N64, R64, "64", "65", "66", "67", "68", ", 1, 1, 0")
SHARED_FORM(Half, "m64n128k16.f16.f16.f16", 32, N32, R32, "32", "33", "1", FLOATS)
SHARED_FORM(Wide, "m64n256k16.f32.bf16.bf16", 128, N128, R128, "128", "129", "1", FLOATS)
REGISTER_FORM(WideRegisters, "m64n256k16.f32.bf16.bf16", 128, N128, R128, "128", "129", "130", "131", "132", ", 1, 1, 0")
SHARED_FORM(Slim, "m64n64k16.f32.bf16.bf16", 32, N32, R32, "32", "33", "1", FLOATS)
SHARED_FORM(Tf32, "m64n128k8.f32.tf32.tf32", 64, N64, R64, "64", "65", "1", NARROW)
REGISTER_FORM(Tf32Registers, "m64n128k8.f32.tf32.tf32", 64, N64, R64, "64", "65", "66", "67", "68", NARROW)
SHARED_FORM(E4m3, "m64n128k32.f32.e4m3.e4m3", 64, N64, R64, "64", "65", "1", NARROW)
SHARED_FORM(S8, "m64n128k32.s32.s8.s8", 64, N64, R64, "64", "65", "1", "")

// counts: of each warpgroup, products or rounds until so many cycles were over; then the cycles
template <class Form> DEVICE void ports(int products, int groups, long long cycles, float *sink, float a, float b, long long *counts) {
  for (int i = threadIdx.x; i < 100 << 10 >> 2; i += blockDim.x) ((unsigned *)memory)[i] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  int group = warpgroup();
  u64 at = (u64)(unsigned)__cvta_generic_to_shared(memory) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
  long long number = 0, began, t, over = 0;
  float all = 0;
  __syncthreads();
  began = now();
  if (group < products) {
    unsigned d[Form::WORDS], f[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < Form::WORDS; ++i) d[i] = 0;
#pragma unroll 1
    do {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int i = 0; i < 8; ++i) Form::multiply(d, f, at);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      t = now();  // all four warps go on to the end: a product needs them
      number += over ? 0 : 8, over = over ? over : t - began >= cycles ? t : 0;
    } while (--groups);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < Form::WORDS; ++i) all += d[i];
    if (over) t = over;
  } else {
    float c[8], x[8], y[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) c[i] = threadIdx.x + i, x[i] = a + c[i], y[i] = b + c[i];
#pragma unroll 1
    do {
#pragma unroll
      for (int k = 0; k < 96; ++k) c[k % 8] = fmaf(c[k % 8], x[k % 8], y[k % 8]);
      ++number, t = now();
    } while (t - began < cycles);
#pragma unroll
    for (int i = 0; i < 8; ++i) all += c[i] + x[i] + y[i];
  }
  if (all == 12345.678f) sink[0] = 1;
  if (threadIdx.x % 128 == 0) counts[2 * group] = number, counts[2 * group + 1] = t - began;
}
#define PORTS(name, Form, threads) \
  extern "C" __global__ void __launch_bounds__(threads, 1) name(int products, int groups, long long cycles, float *sink, float a, float b, long long *counts) { ports<Form>(products, groups, cycles, sink, a, b, counts); }
PORTS(bf16, Bf16, 384)
PORTS(bf16_registers, Bf16Registers, 384)
PORTS(half, Half, 384)
PORTS(wide, Wide, 384)
PORTS(wide_registers, WideRegisters, 256)
PORTS(slim, Slim, 384)
PORTS(tf32, Tf32, 384)
PORTS(tf32_registers, Tf32Registers, 384)
PORTS(e4m3, E4m3, 384)
PORTS(s8, S8, 384)
