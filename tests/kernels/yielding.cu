// Groups of a warp's lanes that give way (YIELD) in ifs and loops of many shapes, with a stamp of the clock at each step
// of a lane.  `pmevent` stands for YIELD, which CUDA cannot say: the test puts one in its place in the machine code.
#define MARK(id) { unsigned c_; asm volatile("mov.u32 %0, %%clock;" : "=r"(c_) :: "memory"); log[(blockIdx.x * 128 + n) * 32 + threadIdx.x] = make_uint2(c_, id); n++; }
#define Y asm volatile("pmevent 1;" ::: "memory");
#define BEGIN const unsigned *w = in + (blockIdx.x * 32 + threadIdx.x) * 4; unsigned a = w[0], b = w[1], c = w[2], d = w[3]; int n = 0; (void)a; (void)b; (void)c; (void)d;
#define K(name) extern "C" __global__ void y_##name(const unsigned *in, uint2 *log)
#define LOOP _Pragma("unroll 1")
#define F(x, k) ((x) >> (4 * (k)) & 3)
K(top) { BEGIN LOOP for (int k = 0; k <= F(a,0); k++) { Y MARK(1) } MARK(2) }
K(mid) { BEGIN LOOP for (int k = 0; k <= F(a,0); k++) { MARK(1) Y MARK(2) } MARK(3) }
K(two) { BEGIN LOOP for (int k = 0; k <= F(a,0); k++) { Y MARK(1) } MARK(2)
  LOOP for (int k = 0; k <= F(a,1); k++) { Y MARK(3) } MARK(4) }
K(two_sync) { BEGIN LOOP for (int k = 0; k <= F(a,0); k++) { Y MARK(1) } MARK(2) __syncwarp();
  LOOP for (int k = 0; k <= F(a,1); k++) { Y MARK(3) } MARK(4) }
K(hash) { BEGIN LOOP for (int r = 0; r < 3; r++) { MARK(1) LOOP for (int k = 0; k <= F(a,r); k++) { Y MARK(2) } MARK(3) } MARK(4) }
K(nest) { BEGIN LOOP for (int r = 0; r <= F(b,0); r++) { MARK(1) LOOP for (int k = 0; k <= F(a,r); k++) { Y MARK(2) } MARK(3) } MARK(4) }
K(nest0) { BEGIN LOOP for (int r = 0; r <= F(b,0); r++) { MARK(1) LOOP for (int k = 0; k < F(a,r); k++) { Y MARK(2) } MARK(3) } MARK(4) }
K(outer) { BEGIN LOOP for (int r = 0; r <= F(b,0); r++) { Y MARK(1) LOOP for (int k = 0; k <= F(a,r); k++) { MARK(2) } MARK(3) } MARK(4) }
K(both) { BEGIN LOOP for (int r = 0; r <= F(b,0); r++) { Y MARK(1) LOOP for (int k = 0; k <= F(a,r); k++) { Y MARK(2) } MARK(3) } MARK(4) }
K(if) { BEGIN if (a & 1) { MARK(1) Y MARK(2) } else { MARK(3) Y MARK(4) } MARK(5) }
K(ifs) { BEGIN if (a & 1) { MARK(1) if (a & 2) { MARK(2) Y MARK(3) } else { MARK(4) Y MARK(5) } MARK(6) } else { MARK(7) if (a & 2) { MARK(8) Y MARK(9) } else { MARK(10) Y MARK(11) } MARK(12) } MARK(13) }
K(ifs2) { BEGIN if (a & 1) { MARK(1) if (a & 2) { MARK(2) Y MARK(3) Y MARK(14) Y MARK(15) } else { MARK(4) Y MARK(5) Y MARK(16) Y MARK(17) } MARK(6) } else { MARK(7) if (a & 2) { MARK(8) Y MARK(9) Y MARK(18) Y MARK(19)} else { MARK(10) Y MARK(11) Y MARK(20) Y MARK(21) } MARK(12) } MARK(13) }
K(case) { BEGIN switch (a & 7) { case 0: MARK(1) Y MARK(11) Y MARK(21) Y MARK(31) break; case 1: MARK(2) Y MARK(12) Y MARK(22) break; case 2: MARK(3) Y MARK(13) break; case 3: MARK(4) break; case 4: MARK(5) Y MARK(15) Y MARK(25) Y MARK(35) break;
  case 5: MARK(6) Y MARK(16) Y MARK(26) break; case 6: MARK(7) Y MARK(17) break; default: MARK(8) } MARK(9) }
K(ifloop) { BEGIN LOOP for (int k = 0; k <= F(a,0); k++) { MARK(1) if (b >> k & 1) { MARK(2) Y MARK(3) } MARK(4) } MARK(5) }
K(elseloop) { BEGIN LOOP for (int k = 0; k <= F(a,0); k++) { MARK(1) if (b >> k & 1) { MARK(2) Y MARK(3) } else { MARK(4) MARK(5) } MARK(6) } MARK(7) }
K(break) { BEGIN LOOP for (int k = 0; k <= F(a,0) + 1; k++) { MARK(1) Y if (b >> k & 1) { MARK(2) break; } MARK(3) if (c >> k & 1) { MARK(4) continue; } Y MARK(5) } MARK(6) }
K(ret) { BEGIN LOOP for (int k = 0; k <= F(a,0) + 1; k++) { MARK(1) Y if (b >> k & 1 && c & 1) { MARK(2) return; } MARK(3) } MARK(6) }
K(branchy) { BEGIN LOOP for (int r = 0; r < 3; r++) { MARK(1) if (b >> r & 1) { LOOP for (int k = 0; k <= F(a,r); k++) { Y MARK(2) } MARK(3) } else { MARK(4) LOOP for (int k = 0; k <= F(c,r); k++) { MARK(5) } } MARK(6) } MARK(7) }
K(three) { BEGIN LOOP for (int r = 0; r <= F(c,0); r++) { MARK(1) LOOP for (int s = 0; s <= F(b,r); s++) { MARK(2) LOOP for (int k = 0; k <= F(a,r+s); k++) { Y MARK(3) } MARK(4) } MARK(5) } MARK(6) }
