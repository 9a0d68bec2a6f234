// Loops whose lanes give way to each other, with a stamp of the clock at each step of a lane (order of a warp's splits).
#define MARK(id) { unsigned c; asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory"); log[(blockIdx.x * 64 + n++) * 32 + threadIdx.x] = make_uint2(c, id); }
#define BEGIN unsigned x = in[blockIdx.x * 32 + threadIdx.x]; int n = 0, trips = x & 7; (void)trips;
extern "C" {
__global__ void naps_alike(const unsigned *in, uint2 *log) { BEGIN
#pragma unroll 1
  for (int k = 0; k < trips; k++) { MARK(1) __nanosleep(0); } MARK(2) }
__global__ void naps_of_lanes(const unsigned *in, uint2 *log) { BEGIN
#pragma unroll 1
  for (int k = 0; k < trips; k++) { MARK(1) __nanosleep((x & 15) * 40); } MARK(2) }
__global__ void spins(const unsigned *in, uint2 *log, volatile unsigned *flags) { BEGIN
  int t = threadIdx.x, wait = (t * 5 + 31) & 31;  volatile unsigned *f = flags + blockIdx.x * 64;
  MARK(1) if (t * 5 % 32 != 0 && (x & 1)) { while (!f[wait]) { if (n < 60) MARK(5) } } MARK(2) f[t] = 1; MARK(3) }
}
