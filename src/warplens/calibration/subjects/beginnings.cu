// What is there for the first time: code and parameters that nobody has read since the launch.
extern "C" {
#define SIXTEEN(x) x x x x x x x x x x x x x x x x
#define FOUR asm volatile("fma.rn.f32 %0, %0, %4, %4; fma.rn.f32 %1, %1, %4, %4; fma.rn.f32 %2, %2, %4, %4; fma.rn.f32 %3, %3, %4, %4;" \
                          : "+f"(a), "+f"(b), "+f"(c), "+f"(d) : "f"(k));
#define C16 FOUR FOUR FOUR FOUR
#define C64 SIXTEEN(FOUR)
#define C256 C64 C64 C64 C64
#define C1024 C256 C256 C256 C256
#define C4096 C1024 C1024 C1024 C1024
// Straight code that needs no parameter but for its end, which is not reached.
#define STRAIGHT(n, body)                                         \
  __global__ void straight_##n(float* sink) {                     \
    float a = F(0), b = F(1), c = F(2), d = F(3), k = F(4);       \
    body                                                          \
    if (a + b + c + d == UNLIKELY) sink[0] = 1;                   \
  }
STRAIGHT(16, C16)
STRAIGHT(64, C64)
STRAIGHT(128, C64 C64)
STRAIGHT(256, C256)
STRAIGHT(512, C256 C256)
STRAIGHT(1024, C1024)
STRAIGHT(4096, C4096)
// The same with the cycles that it takes.
#define TIMED(n, body)                                            \
  __global__ void timed_##n(long long* ticks) {                   \
    long long begun = clock64();                                  \
    float a = F(0), b = F(1), c = F(2), d = F(3), k = F(4);       \
    body                                                          \
    if (a + b + c + d == UNLIKELY) begun = 1;                     \
    long long over = clock64();                                   \
    if (threadIdx.x % 32 == 0) ticks[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = over - begun; \
  }
TIMED(16, C16)
TIMED(64, C64)
TIMED(256, C256)
TIMED(1024, C1024)
TIMED(4096, C4096)
// Jumps forward over so many instructions, 16 of them, each decided by a number that no compiler knows.
#define OVER(body) if (a == UNLIKELY) { body } asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(a) : "f"(k));
#define LEAPS(n, body)                                            \
  __global__ void leaps_##n(long long* ticks, float* sink) {      \
    float a = F(0), b = F(1), c = F(2), d = F(3), k = F(4);       \
    TICKS(SIXTEEN(OVER(body)))                                    \
    if (a + b + c + d == UNLIKELY) sink[0] = 1;                   \
  }
LEAPS(16, C16)
LEAPS(64, C64)
LEAPS(256, C256)
// Parameters: none is read, one, 16 together, one of each 64 bytes, of each 256.
#define L16(p) int p##0, int p##1, int p##2, int p##3, int p##4, int p##5, int p##6, int p##7, int p##8, int p##9, int p##a, int p##b, int p##c, int p##d, int p##e, int p##f
#define L64(p) L16(p##0), L16(p##1), L16(p##2), L16(p##3)
#define L256(p) L64(p##0), L64(p##1), L64(p##2), L64(p##3)
#define USE(v) asm volatile("add.s32 %0, %0, %1;" : "+r"(x) : "r"(v));
#define READS(n, list, body)                                        \
  __global__ void reads_##n(long long* ticks, int* sink, list) {    \
    int x = threadIdx.x;                                            \
    TICKS(body)                                                     \
    if (x == 123456789) sink[0] = 1;                                \
  }
READS(none, L16(p), )
READS(one, L16(p), USE(p0))
READS(sixteen, L16(p), USE(p0) USE(p1) USE(p2) USE(p3) USE(p4) USE(p5) USE(p6) USE(p7) USE(p8) USE(p9) USE(pa) USE(pb) USE(pc) USE(pd) USE(pe) USE(pf))
READS(by_64, L256(p), USE(p000) USE(p010) USE(p020) USE(p030) USE(p100) USE(p110) USE(p120) USE(p130) USE(p200) USE(p210) USE(p220) USE(p230) USE(p300) USE(p310) USE(p320) USE(p330))
READS(by_256, L256(p), USE(p000) USE(p100) USE(p200) USE(p300))
// The same as operands of arithmetic.
#define OPERAND(v) asm volatile("fma.rn.f32 %0, %0, %1, %0;" : "+f"(y) : "f"(__int_as_float(v)));
#define OPERANDS(n, list, body)                                     \
  __global__ void operands_##n(long long* ticks, int* sink, list) { \
    float y = F(0);                                                 \
    TICKS(body)                                                     \
    if (y == UNLIKELY) sink[0] = 1;                                 \
  }
OPERANDS(one, L16(p), OPERAND(p0))
OPERANDS(by_64, L256(p), OPERAND(p000) OPERAND(p010) OPERAND(p020) OPERAND(p030) OPERAND(p100) OPERAND(p110) OPERAND(p120) OPERAND(p130) OPERAND(p200) OPERAND(p210) OPERAND(p220) OPERAND(p230) OPERAND(p300) OPERAND(p310) OPERAND(p320) OPERAND(p330))
OPERANDS(by_256, L256(p), OPERAND(p000) OPERAND(p100) OPERAND(p200) OPERAND(p300))
// One word behind each pointer.
__global__ void writes_one(int* q) { q[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void copies_one(const int* p, int* q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) q[i] = p[i];
}
// Parameters that are needed, and nothing stored.
__global__ void needs_parameters(int* q, int n) { if (n == 123456789) q[threadIdx.x] = 1; }
// A store that needs none: where to stands in a register.
__global__ void stores_at(int* q, int many) {
  if (many) q[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
  else if (threadIdx.x == 0) q[blockIdx.x] = 1;
}
// Eight loads of each first warp, one after the other, of lines that nobody has read: what each of them takes.
__global__ void steps(long long* ticks, const unsigned* p, unsigned lines, int lanes) {
  unsigned at = 0, lane = threadIdx.x % 32;
  for (int s = 0; s < 8; ++s) {
    unsigned mine = lane < (unsigned)lanes ? lane : 0, line = (((blockIdx.x * 8 + s) * 32 + mine) * 2654435761u >> 3) % lines;
    long long t0 = clock64();
    at += p[line * 32 + at];
    if (at == 123456789u) ticks[0] = 1;
    long long t1 = clock64();
    if (threadIdx.x == 0) ticks[blockIdx.x * 8 + s] = t1 - t0;
  }
}
// Constant memory that nobody has read: words so far apart, one after the other, as operands.
__constant__ int constants[16384];
#define CONST(i) USE(constants[i])
#define CONSTANTS(n, body)                                        \
  __global__ void constants_##n(long long* ticks, int* sink) {    \
    int x = threadIdx.x;                                          \
    TICKS(body)                                                   \
    if (x == 123456789) sink[0] = 1;                              \
  }
CONSTANTS(by_64, CONST(0) CONST(16) CONST(32) CONST(48) CONST(64) CONST(80) CONST(96) CONST(112) CONST(128) CONST(144) CONST(160) CONST(176) CONST(192) CONST(208) CONST(224) CONST(240))
CONSTANTS(by_256, CONST(0) CONST(64) CONST(128) CONST(192) CONST(256) CONST(320) CONST(384) CONST(448) CONST(512) CONST(576) CONST(640) CONST(704) CONST(768) CONST(832) CONST(896) CONST(960))
CONSTANTS(by_1024, CONST(0) CONST(256) CONST(512) CONST(768) CONST(1024) CONST(1280) CONST(1536) CONST(1792) CONST(2048) CONST(2304) CONST(2560) CONST(2816) CONST(3072) CONST(3328) CONST(3584) CONST(3840))
}
