// Two to eight groups of a warp's lanes that give way (YIELD), each in a leaf of a tree of branches, with a stamp of the
// clock at each step of a lane.  `pmevent` stands for YIELD, as in yielding.cu.
#define S 64
#define MARK(id) { unsigned c_; asm volatile("mov.u32 %0, %%clock;" : "=r"(c_) :: "memory"); log[(blockIdx.x * S + n) * 32 + threadIdx.x] = make_uint2(c_, id); n++; }
#define Y asm volatile("pmevent 1;" ::: "memory");
#define BEGIN const unsigned *w = in + (blockIdx.x * 32 + threadIdx.x) * 4; unsigned a = w[0], b = w[1], c = w[2], d = w[3]; int n = 0; (void)a; (void)b; (void)c; (void)d;
#define K(name) extern "C" __global__ void turn_##name(const unsigned *in, uint2 *log)
#define LOOP _Pragma("unroll 1")
#define LEAF(i) { LOOP for (unsigned k = 0; k < b; k++) { MARK(10 * i + 1) Y } MARK(10 * i + 2) }
#define X asm volatile("exit;");
#define TREE(L0,L1,L2,L3,L4,L5,L6,L7) if (a & 4) { if (a & 2) { if (a & 1) { L7 } else { L6 } } else { if (a & 1) { L5 } else { L4 } } } else { if (a & 2) { if (a & 1) { L3 } else { L2 } } else { if (a & 1) { L1 } else { L0 } } }
// leaves exit: no barrier at all
K(exit) { BEGIN TREE(LEAF(0) X, LEAF(1) X, LEAF(2) X, LEAF(3) X, LEAF(4) X, LEAF(5) X, LEAF(6) X, LEAF(7) X) }
// leaves exit, no loops: three yields each
#define L3(i) { MARK(10 * i + 1) Y MARK(10 * i + 2) Y MARK(10 * i + 3) Y MARK(10 * i + 4) }
K(three) { BEGIN TREE(L3(0) X, L3(1) X, L3(2) X, L3(3) X, L3(4) X, L3(5) X, L3(6) X, L3(7) X) }
#define L1(i) { MARK(10 * i + 1) Y MARK(10 * i + 2) }
K(one) { BEGIN TREE(L1(0) X, L1(1) X, L1(2) X, L1(3) X, L1(4) X, L1(5) X, L1(6) X, L1(7) X) }
K(meet1) { BEGIN TREE(L1(0), L1(1), L1(2), L1(3), L1(4), L1(5), L1(6), L1(7)) MARK(99) }
K(ifs) { BEGIN if (a & 1) { MARK(1) if (a & 2) { MARK(2) Y MARK(3) } else { MARK(4) Y MARK(5) } MARK(6) } else { MARK(7) if (a & 2) { MARK(8) Y MARK(9) } else { MARK(10) Y MARK(11) } MARK(12) } MARK(13) }
// one loop with own trip counts, leaving to own exits
K(loop) { BEGIN LOOP for (unsigned k = 0; ; k++) { MARK(1) Y if (k == b) break; } MARK(2) asm volatile("exit;"); }
// two loops one after the other, and a loop in a loop (d times, as often as b says in each)
K(two) { BEGIN LOOP for (unsigned k = 0; k <= b; k++) { Y MARK(1) } MARK(2) LOOP for (unsigned k = 0; k <= c; k++) { Y MARK(3) } MARK(4) }
K(nest) { BEGIN LOOP for (int r = 0; r < (int)(d & 3) + 1; r++) { MARK(1) LOOP for (int k = 0; k <= ((b >> 2 * r) & 3); k++) { Y MARK(2) } MARK(3) } MARK(4) }
