// Lanes that part: bodies too long to be predicated, on two sides, in four, in loops of their own length.
#define LONG(x) asm volatile("add.f32 %0, %0, %1; mul.f32 %0, %0, %1; add.f32 %0, %0, %1; mul.f32 %0, %0, %1; add.f32 %0, %0, %1; mul.f32 %0, %0, %1; add.f32 %0, %0, %1; mul.f32 %0, %0, %1; add.f32 %0, %0, %1; mul.f32 %0, %0, %1; add.f32 %0, %0, %1; mul.f32 %0, %0, %1; add.f32 %0, %0, %1; mul.f32 %0, %0, %1;" : "+f"(x) : "f"(c))
#define MORE(x) asm volatile("mul.f32 %0, %0, %1; add.f32 %0, %0, %2; mul.f32 %0, %0, %1; add.f32 %0, %0, %2; mul.f32 %0, %0, %1; add.f32 %0, %0, %2; mul.f32 %0, %0, %1; add.f32 %0, %0, %2; mul.f32 %0, %0, %1; add.f32 %0, %0, %2; mul.f32 %0, %0, %1; add.f32 %0, %0, %2;" : "+f"(x) : "f"(d), "f"(c))
extern "C" {
// Lanes whose bit of `which` is set go one way, the others another; all go the same way if none is, or all are.
__global__ void two_sides(long long* ticks, float* sink, int rounds, unsigned which) {
  float a = F(0), c = 1.5f * rounds, d = 0.5f * rounds;
  TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {
    if (which >> (threadIdx.x & 31) & 1) { LONG(a); } else { MORE(a); }
    which = which << 1 | which >> 31;
  })
  if (a == UNLIKELY) sink[0] = a;
}
__global__ void one_side(long long* ticks, float* sink, int rounds, unsigned which) {
  float a = F(0), c = 1.5f * rounds;
  TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {
    if (which >> (threadIdx.x & 31) & 1) { LONG(a); }
    which = which << 1 | which >> 31;
  })
  if (a == UNLIKELY) sink[0] = a;
}
__global__ void own_rounds(long long* ticks, float* sink, int rounds, unsigned which) {
  float a = F(0), c = 1.5f * rounds;
  TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {
    _Pragma("unroll 1") for (unsigned k = 0; k < 2 + (threadIdx.x * which & 3); ++k) { LONG(a); }
  })
  if (a == UNLIKELY) sink[0] = a;
}
__global__ void four_sides(long long* ticks, float* sink, int rounds, unsigned which) {
  float a = F(0), c = 1.5f * rounds, d = 0.5f * rounds;
  TICKS(_Pragma("unroll 1") for (int r = 0; r < rounds; ++r) {
    unsigned turn = (threadIdx.x * which + r) & 3;
    if (turn & 1) { if (turn & 2) { LONG(a); } else { MORE(a); } a += 1; }
    else { if (turn & 2) { LONG(a); } else { MORE(a); } a *= c; }
  })
  if (a == UNLIKELY) sink[0] = a;
}
}
