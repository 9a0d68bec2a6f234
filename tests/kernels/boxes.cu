// Boxes of tensors and runs of bytes, to shared memory and back; one thread asks, all look.
struct __align__(64) TensorMap { unsigned long long words[16]; };
static __device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void wait(unsigned barrier, unsigned phase)
{
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }" :: "r"(barrier), "r"(phase) : "memory");
}

static __device__ void begin(unsigned barrier, unsigned bytes)
{
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
    }
    __syncthreads();
}

static __device__ void finish() { asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory"); }

// A box of two dimensions for each block.
extern "C" __global__ void load2(const __grid_constant__ TensorMap map, int x, int y, unsigned bytes, unsigned char *out)
{
    extern __shared__ __align__(1024) unsigned char box[];
    __shared__ unsigned long long barrier;
    unsigned b = shared_address(&barrier);
    begin(b, bytes);
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
            :: "r"(shared_address(box)), "l"(&map), "r"(x * (int)blockIdx.x), "r"(y * (int)blockIdx.y), "r"(b) : "memory");
    wait(b, 0);
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x)
        out[(blockIdx.y * gridDim.x + blockIdx.x) * bytes + i] = box[i];
}

// The same of four dimensions, a column of pixels: at (c, w, h, n) with offsets (i, j).
extern "C" __global__ void column4(const __grid_constant__ TensorMap map, int4 at, int2 offsets, unsigned bytes, unsigned char *out)
{
    extern __shared__ __align__(1024) unsigned char box[];
    __shared__ unsigned long long barrier;
    unsigned b = shared_address(&barrier);
    begin(b, bytes);
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
            :: "r"(shared_address(box)), "l"(&map), "r"(at.x), "r"(at.y), "r"(at.z), "r"(at.w), "r"(b), "h"((short)offsets.x), "h"((short)offsets.y) : "memory");
    wait(b, 0);
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = box[i];
}

// From shared memory to a box: stored, or added.
extern "C" __global__ void store2(const __grid_constant__ TensorMap map, int x, int y, int add, unsigned bytes, const unsigned char *in)
{
    extern __shared__ __align__(1024) unsigned char box[];
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) box[i] = in[blockIdx.x * bytes + i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        if (add) asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%1, {%2, %3}], [%0];" :: "r"(shared_address(box)), "l"(&map), "r"(x), "r"(y) : "memory");
        else asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" :: "r"(shared_address(box)), "l"(&map), "r"(x * (int)blockIdx.x), "r"(y) : "memory");
        finish();
    }
}

// A pipeline of two stages: in to shared memory, one added, and out again; bulk copies without a map.
extern "C" __global__ void pipeline(const int *in, int *out, int rounds)
{
    __shared__ alignas(128) int stage[2][256];
    __shared__ alignas(8) unsigned long long full[2];
    unsigned b[2] = {shared_address(&full[0]), shared_address(&full[1])}, t = threadIdx.x;
    if (t < 2) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b[t]) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    auto fetch = [&](int n) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" :: "r"(b[n & 1]) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
            :: "r"(shared_address(stage[n & 1])), "l"(in + 256 * n), "r"(b[n & 1]) : "memory");
    };
    if (t == 0) fetch(0);
    for (int n = 0; n < rounds; n++) {
        if (t == 0) {  // the next stage may be read still
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            if (n + 1 < rounds) fetch(n + 1);
        }
        wait(b[n & 1], n >> 1 & 1);
        stage[n & 1][t] += 1;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" :: "l"(out + 256 * n), "r"(shared_address(stage[n & 1])) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Nobody arrives: the phase is never over.
extern "C" __global__ void hang(int *out)
{
    __shared__ alignas(8) unsigned long long barrier;
    begin(shared_address(&barrier), 64);
    wait(shared_address(&barrier), 0);
    out[threadIdx.x] = 1;
}

// Two blocks: both get the box that the first asks for, and each sends a row of it to the other, and words one by one.
extern "C" __global__ void __cluster_dims__(2) exchange(const __grid_constant__ TensorMap map, int *out)
{
    __shared__ __align__(1024) int box[3][64];
    __shared__ alignas(8) unsigned long long barrier[2];
    unsigned b = shared_address(&barrier[0]), c = shared_address(&barrier[1]), rank, there, count, target, t = threadIdx.x;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    begin(b, 256);
    begin(c, 256 + 64 * 4);
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
    if (t == 0 && rank == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {0, 0}], [%2], %3;"
            :: "r"(shared_address(box[0])), "l"(&map), "r"(b), "h"((unsigned short)3) : "memory");
    wait(b, 0);
    box[0][t] += 100 * (rank + 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(count) : "r"(c), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(box[1])), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(target) : "r"(shared_address(&box[2][t])), "r"(rank ^ 1));
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
            :: "r"(there), "r"(shared_address(box[0])), "r"(count) : "memory");
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" :: "r"(target), "r"(7 * t + rank), "r"(count) : "memory");
    wait(c, 0);
    for (int row = 0; row < 3; row++) out[(rank * 3 + row) * 64 + t] = box[row][t];
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
}
