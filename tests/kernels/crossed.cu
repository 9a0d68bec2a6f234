// Lanes that wait for each other in two places: some at the meeting behind a branch or loop (BSYNC), for others that wait
// for them at a __syncwarp() or vote inside it, or at another meeting.  A stamp of the clock at each step of a lane.
// `breaks` was measured with NOP in place of its BREAKs: lanes leave two loops and are still waited for.
#define MARK(id) { unsigned c_; asm volatile("mov.u32 %0, %%clock;" : "=r"(c_) :: "memory"); log[(blockIdx.x * 128 + n) * 32 + threadIdx.x] = make_uint2(c_, id); n++; }
#define BEGIN const unsigned *w = in + (blockIdx.x * 32 + threadIdx.x) * 4; unsigned a = w[0], b = w[1], c = w[2]; int n = 0; (void)a; (void)b; (void)c;
#define K(name) extern "C" __global__ void m_##name(const unsigned *in, unsigned all, uint2 *log)
#define LOOP _Pragma("unroll 1")
#define F(x, k) ((x) >> (4 * (k)) & 3)
K(if) { BEGIN if (a & 1) { MARK(1) __syncwarp(all); MARK(2) } else { MARK(3) } MARK(4) }
K(ifs) { BEGIN if (a & 1) { MARK(1) if (a & 2) { MARK(2) __syncwarp(all); MARK(3) } else { MARK(4) } MARK(5) } MARK(6) }
K(else) { BEGIN if (a & 1) { MARK(1) __syncwarp(all); MARK(2) } else { MARK(3) if (a & 2) { MARK(4) __syncwarp(all); MARK(5) } MARK(6) } MARK(7) }
K(loop) { BEGIN LOOP for (int k = 0; k <= F(a,0); k++) { MARK(1) if (b >> k & 1) { MARK(2) __syncwarp(all); MARK(3) } MARK(4) } MARK(5) }
K(nest) { BEGIN LOOP for (int r = 0; r <= F(b,0); r++) { MARK(1) LOOP for (int k = 0; k < F(a,r); k++) { MARK(2) __syncwarp(all); MARK(3) } MARK(4) } MARK(5) }
K(vote) { BEGIN LOOP for (int k = 0; k <= F(a,0); k++) { MARK(1) if (b >> k & 1) { MARK(2) n += __popc(__ballot_sync(all, c >> k & 1)) > 40; MARK(3) } MARK(4) } MARK(5) }
K(breaks) { BEGIN LOOP for (int r = 0; r <= F(b,0); r++) { MARK(1) LOOP for (int k = 0; k <= F(a,r); k++) { MARK(2) if (c >> (r + k) & 1) goto out; MARK(3) if (b >> (r + 2 * k) & 1) break; MARK(4) } MARK(5) } MARK(6) out: MARK(7) }
