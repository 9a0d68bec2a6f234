// Instructions that come from afar: code that is executed once, and loops of many sizes.
extern "C" {
#define TEN(x) x x x x x x x x x x
#define ADD asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(a) : "f"(k));
#define SIXTEEN(x) x x x x x x x x x x x x x x x x
#define FOUR asm volatile("fma.rn.f32 %0, %0, %4, %4; fma.rn.f32 %1, %1, %4, %4; fma.rn.f32 %2, %2, %4, %4; fma.rn.f32 %3, %3, %4, %4;" \
                          : "+f"(a), "+f"(b), "+f"(c), "+f"(d) : "f"(k));
#define C64 SIXTEEN(FOUR)
#define C256 C64 C64 C64 C64
#define C1024 C256 C256 C256 C256
#define C4096 C1024 C1024 C1024 C1024
// Straight code of one dependent chain.
__global__ void code_long(long long* ticks, float* sink, float k) {
  float a = F(0);
  TICKS(TEN(TEN(ADD ADD ADD ADD ADD ADD ADD ADD)))
  if (a == UNLIKELY) sink[0] = 1;
}
__global__ void code_longer(long long* ticks, float* sink, float k) {
  float a = F(0);
  TICKS(TEN(TEN(TEN(ADD ADD ADD ADD))))
  if (a == UNLIKELY) sink[0] = 1;
}
// Loops of so many instructions in four chains.
#define BODY(n, body)                                                                     \
  __global__ void body_##n(long long* ticks, float* sink, int rounds, float k) {         \
    float a = F(0), b = F(1), c = F(2), d = F(3);                                        \
    long long t0 = 0;                                                                    \
    _Pragma("unroll 1") for (int r = -2; r < rounds; ++r) {                              \
      if (r == 0) t0 = clock64();                                                        \
      body                                                                               \
    }                                                                                    \
    if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = clock64() - t0; \
    if (a + b + c + d == UNLIKELY) sink[0] = 1;                                          \
  }
BODY(64, C64)
BODY(128, C64 C64)
BODY(192, C64 C64 C64)
BODY(256, C256)
BODY(512, C256 C256)
BODY(768, C256 C256 C256)
BODY(1024, C1024)
BODY(2048, C1024 C1024)
BODY(4096, C4096)
BODY(8192, C4096 C4096)
// Straight code of four chains, once through it: as fast as code can come.
#define WIDE(n, body)                                             \
  __global__ void wide_##n(long long* ticks, float* sink, float k) { \
    float a = F(0), b = F(1), c = F(2), d = F(3);                  \
    TICKS(body)                                                    \
    if (a + b + c + d == UNLIKELY) sink[0] = 1;                    \
  }
WIDE(256, C256)
WIDE(1024, C1024)
WIDE(4096, C4096)
// Jumps over so many instructions, one after the other: none of what is jumped over is needed, the target is.
#define JUMP(i, body) if (k == UNLIKELY + i) { body } a = fmaf(a, k, k);
#define EIGHT(body) JUMP(1, body) JUMP(2, body) JUMP(3, body) JUMP(4, body) JUMP(5, body) JUMP(6, body) JUMP(7, body) JUMP(8, body)
#define JUMPS(n, body)                                                \
  __global__ void jumps_##n(long long* ticks, float* sink, float k) { \
    float a = F(0), b = F(1), c = F(2), d = F(3);                      \
    TICKS(EIGHT(body) EIGHT(body))                                     \
    if (a + b + c + d == UNLIKELY) sink[0] = 1;                        \
  }
JUMPS(64, C64)
JUMPS(256, C256)
}
