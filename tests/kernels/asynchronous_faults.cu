// Asynchronous operations of sm_90a with one fault each, which the arguments plant; without them they are right.
// Macros, not functions: so a message names the line of each use.
struct __align__(64) TensorMap { unsigned long long words[16]; };
extern __shared__ __align__(1024) uint4 memory[];

#define ADDRESS(p) ((unsigned)__cvta_generic_to_shared(p))
#define FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define INIT(barrier, arrivals) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(arrivals) : "memory")
#define INVALIDATE(barrier) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(barrier) : "memory")
#define ARRIVE(barrier) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory")
#define EXPECT(barrier, bytes) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory")
#define WAIT(barrier, parity) asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }" :: "r"(barrier), "r"(parity) : "memory")
#define LOAD(to, map, y, barrier) asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, %2}], [%3];" \
    :: "r"(ADDRESS(to)), "l"(&map), "r"(y), "r"(barrier) : "memory")
#define MULTIPLY(d, a, b) asm volatile("wgmma.fence.sync.aligned;\n wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n wgmma.commit_group.sync.aligned;" \
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b) : "memory")
#define FINISH asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")

static __device__ void give(float *out, const float (&d)[4]) { for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i]; }

// Matrices of ones that the threads store; fences: bit 0 of all before the barrier, bit 1 after it; bit 2: a warp leaves.
extern "C" __global__ void __launch_bounds__(128) stored(float *out, unsigned long long fields, int fences)
{
    float d[4] = {0, 0, 0, 0};
    memory[threadIdx.x] = make_uint4(0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80);
    memory[128 + threadIdx.x % 16] = make_uint4(0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80);
    if (fences & 1) FENCE;
    __syncthreads();
    if (fences & 2) FENCE;
    if (fences & 4 && threadIdx.x >= 96) return;
    MULTIPLY(d, fields + (ADDRESS(memory) >> 4), fields + (ADDRESS(memory) >> 4) + 128);
    FINISH;
    give(out, d);
}

// A producer's boxes of 64 rows, multiplied by themselves; early: the stage is given back
// before the product is done (1), or by one thread for all (2);
// shift: where the boxes lie, in units of 16 bytes.
extern "C" __global__ void __launch_bounds__(256) ring(const __grid_constant__ TensorMap map, float *out, unsigned long long fields, int rounds, int early, int shift)
{
    __shared__ alignas(8) unsigned long long barriers[2];
    unsigned full = ADDRESS(&barriers[0]), empty = ADDRESS(&barriers[1]);
    if (threadIdx.x == 0) {
        INIT(full, 1);
        INIT(empty, early == 2 ? 1 : 128);
        FENCE;
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        for (int n = 0; threadIdx.x == 128 && n < rounds; n++) {
            WAIT(empty, (n & 1) ^ 1);
            EXPECT(full, 8192);
            LOAD(memory + shift, map, 0, full);
        }
        return;
    }
    float d[4] = {0, 0, 0, 0};
    for (int n = 0; n < rounds; n++) {
        WAIT(full, n & 1);
        unsigned long long at = fields + (ADDRESS(memory + shift) >> 4);
        MULTIPLY(d, at, at);
        if (early == 1) ARRIVE(empty);
        FINISH;
        if (early == 0 || early == 2 && threadIdx.x == 0) ARRIVE(empty);
    }
    give(out, d);
}

// Bytes that the threads store, then copied out; fenced: before the barrier; waits: for the reads before they are changed.
extern "C" __global__ void __launch_bounds__(128) copied(uint4 *out, int fenced, int waits)
{
    for (unsigned n = 0; n < 2; n++) {
        memory[threadIdx.x] = make_uint4(n, n, n, n);
        if (fenced) FENCE;
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;" :: "l"(out + 128 * n), "r"(ADDRESS(memory)) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            if (waits) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        __syncthreads();
    }
}

// An mbarrier of 64 threads and a box of 2,048 bytes.
enum { RIGHT, FEW_ARRIVALS, FEW_BYTES, MANY_BYTES, OTHER_PHASE, NO_INIT, TWO_INITS, UNSEEN_INIT, STORED_OVER, TWO_LIVES, NO_WAIT };
extern "C" __global__ void __launch_bounds__(64) awaited(const __grid_constant__ TensorMap map, uint4 *out, int fault)
{
    __shared__ alignas(8) unsigned long long barrier;
    unsigned at = ADDRESS(&barrier);
    if (threadIdx.x == 32 && fault != NO_INIT) {
        INIT(at, 64);
        if (fault == TWO_LIVES) INVALIDATE(at);
        if (fault == TWO_INITS || fault == TWO_LIVES)
            INIT(at, 64);
        if (fault == STORED_OVER) *(volatile unsigned long long *)&barrier = ~0ull << 44;
        FENCE;
    }
    if (fault != UNSEEN_INIT) __syncthreads();
    if (threadIdx.x == 0) {
        EXPECT(at, fault == FEW_BYTES ? 4096 : fault == MANY_BYTES ? 1024 : 2048);
        LOAD(memory, map, 0, at);
    } else if (fault != FEW_ARRIVALS || threadIdx.x < 60)
        ARRIVE(at);
    if (fault == NO_WAIT) __syncthreads();
    else
        WAIT(at, (int)(fault == OTHER_PHASE));
    out[threadIdx.x] = memory[threadIdx.x];
}

// Registers of three warpgroups: the first gives 128 a thread back, the others want 32 more each.
enum { NOT_GIVEN = 1, HALF_A_GROUP = 2 };
extern "C" __global__ void __launch_bounds__(384, 1) shifted(int *out, int fault)
{
    if (threadIdx.x < 128) {
        if (fault != NOT_GIVEN && (fault != HALF_A_GROUP || threadIdx.x < 64)) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        out[threadIdx.x] = 2;
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 200;");
        out[threadIdx.x] = 1;
    }
}
