// Kernels of tensor_copies.cu.
#include <cooperative_groups.h>

typedef unsigned long long u64;
static const int BUFFER = 16384;  // bytes of shared memory that are copied

struct Place { int at[5]; unsigned offsets, shared, bytes; };
struct Plain { unsigned char *memory, *result; unsigned bytes, shift; int operation, type; unsigned mask; };

static __device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ unsigned char *buffer() { extern __shared__ __align__(1024) unsigned char shared[]; return shared; }

static __device__ void prepare(u64 *barrier, int count, unsigned char filler) {
    for (int i = threadIdx.x; i < BUFFER; i += blockDim.x) buffer()[i] = filler;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(count) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
}

// Waits for so many bytes, but not for ever, and writes whether they have come, and the buffer.
static __device__ void finish(const u64 *barrier, unsigned bytes, uint4 *result) {
    unsigned over = 0, b = shared_address(barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"(bytes) : "memory");
        for (int tries = 0; tries < 1000 && !over; tries++) {
            asm volatile("{ .reg .pred q; mbarrier.test_wait.parity.shared::cta.b64 q, [%1], 0; selp.u32 %0, 1, 0, q; }" : "=r"(over) : "r"(b) : "memory");
            if (!over) __nanosleep(1000);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BUFFER / 16; i += blockDim.x) result[i] = ((const uint4 *)buffer())[i];
    if (threadIdx.x == 0) result[BUFFER / 16] = make_uint4(over, 0, 0, 0);
}

#define AT1 "{%2}"
#define AT2 "{%2, %3}"
#define AT3 "{%2, %3, %4}"
#define AT4 "{%2, %3, %4, %5}"
#define AT5 "{%2, %3, %4, %5, %6}"
#define OPERANDS "r"(shared_address(buffer() + p.shared)), "l"(map), "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]), "r"(p.at[3]), "r"(p.at[4])

template <int D, int I> static __device__ void tensor_load(const CUtensorMap *map, const Place &p, u64 *barrier) {
    unsigned b = shared_address(barrier);
#define TILED(d) if (D == d && !I) asm volatile("cp.async.bulk.tensor." #d "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " AT##d "], [%7];" :: OPERANDS, "r"(b) : "memory")
    TILED(1); TILED(2); TILED(3); TILED(4); TILED(5);
#undef TILED
    unsigned short o0 = p.offsets & (D == 3 ? 0xFFFF : D == 4 ? 0xFF : 31), o1 = p.offsets >> (D == 4 ? 8 : 5) & (D == 4 ? 0xFF : 31), o2 = p.offsets >> 10 & 31;
#define IM2COL(d, o) if (D == d && I) asm volatile("cp.async.bulk.tensor." #d "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, " AT##d "], [%7], " o ";" :: OPERANDS, "r"(b), "h"(o0), "h"(o1), "h"(o2) : "memory")
    IM2COL(3, "{%8}"); IM2COL(4, "{%8, %9}"); IM2COL(5, "{%8, %9, %10}");
#undef IM2COL
}

template <int D, int I> __global__ void load(const __grid_constant__ CUtensorMap map, Place p, uint4 *result) {
    __shared__ u64 barrier;
    prepare(&barrier, 1, 0xA5);
    if (threadIdx.x == 0) tensor_load<D, I>(&map, p, &barrier);
    finish(&barrier, p.bytes, result);
}

template <int D, int I, int O> static __device__ void tensor_store(const CUtensorMap *map, const Place &p) {
#define STORE(d, mode, name) if (D == d && O == 0) asm volatile("cp.async.bulk.tensor." #d "d.global.shared::cta." mode ".bulk_group [%1, " AT##d "], [%0];" :: OPERANDS : "memory")
#define REDUCE(d, mode, o, name) if (D == d && O == o) asm volatile("cp.reduce.async.bulk.tensor." #d "d.global.shared::cta." name "." mode ".bulk_group [%1, " AT##d "], [%0];" :: OPERANDS : "memory")
#define EVERY(d, mode) STORE(d, mode, ""); REDUCE(d, mode, 1, "add"); REDUCE(d, mode, 2, "min"); REDUCE(d, mode, 3, "max"); REDUCE(d, mode, 4, "inc"); REDUCE(d, mode, 5, "dec"); REDUCE(d, mode, 6, "and"); REDUCE(d, mode, 7, "or"); REDUCE(d, mode, 8, "xor")
    if (!I) { EVERY(1, "tile"); EVERY(2, "tile"); EVERY(3, "tile"); EVERY(4, "tile"); EVERY(5, "tile"); }
    if (I) { EVERY(3, "im2col_no_offs"); EVERY(4, "im2col_no_offs"); EVERY(5, "im2col_no_offs"); }
}

template <int D, int I, int O> __global__ void store(const __grid_constant__ CUtensorMap map, Place p, const uint4 *data) {
    for (int i = threadIdx.x; i < BUFFER / 16; i += blockDim.x) ((uint4 *)buffer())[i] = data[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        tensor_store<D, I, O>(&map, p);
        asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

typedef void (*LoadKernel)(CUtensorMap, Place, uint4 *);
typedef void (*StoreKernel)(CUtensorMap, Place, const uint4 *);
static LoadKernel load_kernel(int rank, int im2col) {
    static const LoadKernel tiled[] = {load<1, 0>, load<2, 0>, load<3, 0>, load<4, 0>, load<5, 0>};
    static const LoadKernel columns[] = {0, 0, load<3, 1>, load<4, 1>, load<5, 1>};
    return im2col ? columns[rank - 1] : tiled[rank - 1];
}
static StoreKernel store_kernel(int rank, int im2col, int operation) {
#define ALL(O) {{store<1, 0, O>, store<2, 0, O>, store<3, 0, O>, store<4, 0, O>, store<5, 0, O>}, {0, 0, store<3, 1, O>, store<4, 1, O>, store<5, 1, O>}}
    static const StoreKernel kernels[9][2][5] = {ALL(0), ALL(1), ALL(2), ALL(3), ALL(4), ALL(5), ALL(6), ALL(7), ALL(8)};
    return kernels[operation][im2col][rank - 1];
}

// Bulk copies without a tensor map

static __device__ void bulk_load(void *to, const void *from, unsigned bytes, u64 *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :: "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}

static __device__ unsigned mapped(unsigned address, unsigned rank) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

static __device__ unsigned rank_in_cluster() { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
static __device__ void cluster_barrier() { asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory"); }

__global__ void bulk_in(Plain p) {
    __shared__ u64 barrier;
    prepare(&barrier, 1, 0x5A);
    if (threadIdx.x == 0) bulk_load(buffer() + p.shift, p.memory, p.bytes, &barrier);
    finish(&barrier, p.bytes, (uint4 *)p.result);
}

__global__ void bulk_out(Plain p) {
    for (int i = threadIdx.x; i < BUFFER; i += blockDim.x) buffer()[i] = (unsigned char)(i * 7 ^ i >> 8);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(p.memory), "r"(shared_address(buffer() + p.shift)), "r"(p.bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group.read 0;\n cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// Into the shared memory of the next block of the cluster.
__global__ void bulk_across(Plain p) {
    __shared__ u64 barrier;
    prepare(&barrier, 1, (unsigned char)(0x11 * (rank_in_cluster() + 1)));
    cluster_barrier();
    if (threadIdx.x == 0) {
        unsigned next = (rank_in_cluster() + 1) % gridDim.x;
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
            :: "r"(mapped(shared_address(buffer() + p.shift), next)), "r"(shared_address(buffer() + 8192)), "r"(p.bytes), "r"(mapped(shared_address(&barrier), next)) : "memory");
    }
    finish(&barrier, p.bytes, (uint4 *)(p.result + blockIdx.x * (BUFFER + 16)));
    cluster_barrier();
}

__global__ void bulk_multicast(Plain p) {
    __shared__ u64 barrier;
    prepare(&barrier, 1, 0x77);
    cluster_barrier();
    if (threadIdx.x == 0 && rank_in_cluster() == 1)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
            :: "r"(shared_address(buffer() + p.shift)), "l"(p.memory), "r"(p.bytes), "r"(shared_address(&barrier)), "h"((unsigned short)p.mask) : "memory");
    finish(&barrier, p.mask >> rank_in_cluster() & 1 ? p.bytes : 0, (uint4 *)(p.result + blockIdx.x * (BUFFER + 16)));
    cluster_barrier();
}

#define GLOBAL_REDUCTIONS(X) X(0, "add.u32") X(1, "add.s32") X(2, "add.u64") X(3, "inc.u32") X(4, "dec.u32") X(5, "min.u32") \
    X(6, "min.s32") X(7, "min.u64") X(8, "min.s64") X(9, "max.u32") X(10, "max.s32") X(11, "max.u64") X(12, "max.s64") \
    X(13, "and.b32") X(14, "or.b32") X(15, "xor.b32") X(16, "and.b64") X(17, "or.b64") X(18, "xor.b64") X(19, "add.f32") \
    X(20, "add.f64") X(21, "add.noftz.f16") X(22, "min.f16") X(23, "max.f16") X(24, "add.noftz.bf16") X(25, "min.bf16") X(26, "max.bf16")
#define SHARED_REDUCTIONS(X) X(0, "add.u32") X(1, "add.s32") X(2, "add.u64") X(3, "inc.u32") X(4, "dec.u32") X(5, "min.u32") \
    X(6, "min.s32") X(7, "max.u32") X(8, "max.s32") X(9, "and.b32") X(10, "or.b32") X(11, "xor.b32")

__global__ void bulk_reduce(Plain p) {
    // Operands from the second half of the memory, which nothing changes.
    for (int i = threadIdx.x; i < BUFFER / 16; i += blockDim.x) ((uint4 *)buffer())[i] = ((const uint4 *)(p.memory + 65536))[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
#define ONE(n, o) if (p.operation == n) asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." o " [%0], [%1], %2;" :: "l"(p.memory), "r"(shared_address(buffer() + p.shift)), "r"(p.bytes) : "memory");
        GLOBAL_REDUCTIONS(ONE)
#undef ONE
        asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

__global__ void bulk_reduce_across(Plain p) {
    __shared__ u64 barrier;
    prepare(&barrier, 1, 0);
    for (int i = threadIdx.x; i < BUFFER / 16; i += blockDim.x) ((uint4 *)buffer())[i] = ((const uint4 *)(p.memory + 65536 * rank_in_cluster()))[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    cluster_barrier();
    if (threadIdx.x == 0 && rank_in_cluster() == 0) {
        unsigned to = mapped(shared_address(buffer()), 1), from = shared_address(buffer() + p.shift), b = mapped(shared_address(&barrier), 1);
#define ONE(n, o) if (p.operation == n) asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." o " [%0], [%1], %2, [%3];" :: "r"(to), "r"(from), "r"(p.bytes), "r"(b) : "memory");
        SHARED_REDUCTIONS(ONE)
#undef ONE
    }
    finish(&barrier, rank_in_cluster() == 1 ? p.bytes : 0, (uint4 *)(p.result + blockIdx.x * (BUFFER + 16)));
    cluster_barrier();
}

// st.async and red.async: each thread one word or more in the next block.
#define ASYNCHRONOUS_REDUCTIONS(X) X(4, "add.u32") X(5, "add.s32") X(6, "inc.u32") X(7, "dec.u32") X(8, "min.u32") X(9, "min.s32") \
    X(10, "max.u32") X(11, "max.s32") X(12, "and.b32") X(13, "or.b32") X(14, "xor.b32")
__global__ void store_asynchronously(Plain p) {
    __shared__ u64 barrier;
    prepare(&barrier, 1, (unsigned char)(0x21 * (rank_in_cluster() + 1)));
    cluster_barrier();
    unsigned next = (rank_in_cluster() + 1) % gridDim.x, t = threadIdx.x, b = mapped(shared_address(&barrier), next);
    unsigned to = mapped(shared_address(buffer()) + 16 * t, next), v = t * 0x01010101u + 0x80000000u * (t & 1);
    if (t < p.mask) {
        if (p.operation == 0) asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" :: "r"(to), "r"(v), "r"(b) : "memory");
        if (p.operation == 1) asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" :: "r"(to), "l"((u64)v << 13 | t), "r"(b) : "memory");
        if (p.operation == 2) asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %1}, [%4];" :: "r"(to), "r"(v), "r"(t), "r"(~v), "r"(b) : "memory");
        if (p.operation == 3) asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%0], %1, [%2];" :: "r"(to), "l"((u64)v << 13 | t), "r"(b) : "memory");
#define ONE(n, o) if (p.operation == n) asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." o " [%0], %1, [%2];" :: "r"(to), "r"(v), "r"(b) : "memory");
        ASYNCHRONOUS_REDUCTIONS(ONE)
#undef ONE
    }
    finish(&barrier, p.mask * p.bytes, (uint4 *)(p.result + blockIdx.x * (BUFFER + 16)));
    cluster_barrier();
}

// What operations on a barrier return, and whether its first phase is over.  No phase gets more arrivals or bytes
// than it waits for: that would be an error.
__global__ void barrier_words(Plain p) {
    __shared__ u64 barrier;
    int count = 1 + p.type % 5, pending = count, left = 0;
    prepare(&barrier, count, 0);
    if (threadIdx.x) return;
    unsigned b = shared_address(&barrier), s = p.type + 1, over;
    u64 *o = (u64 *)p.result, token;
    for (int n = 0; n < 60; n++) {
        s = s * 1664525u + 1013904223u;
        int bytes = 16 * (int)(1 + (s >> 9 & 63)), what = (int)(s >> 20 & 7), some = left > 16 ? left / 32 * 16 : left;
        token = 0;
        if (what < 2 && pending) { asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(bytes) : "memory"); left += bytes; }
        else if (what < 4 && pending) { asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory"); pending--; }
        else if (what < 6 && pending) { asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], %2;" : "=l"(token) : "r"(b), "r"(bytes) : "memory"); pending--, left += bytes; }
        else if (what == 6 && pending > 1 && count > 1) { asm volatile("mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64 %0, [%1], %2;" : "=l"(token) : "r"(b), "r"(bytes) : "memory"); pending--, count--, left += bytes; }
        else if (left) { asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(s & 256 ? some : left) : "memory"); left -= s & 256 ? some : left; }
        else if (pending) { asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(bytes) : "memory"); left -= bytes;
            asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(bytes) : "memory"); left += bytes; }
        if (!pending && !left) pending = count;
        asm volatile("{ .reg .pred q; mbarrier.test_wait.parity.shared::cta.b64 q, [%1], 0; selp.u32 %0, 1, 0, q; }" : "=r"(over) : "r"(b) : "memory");
        o[2 * n] = token >> 32, o[2 * n + 1] = over;  // the low word of a token is undefined
    }
}

// Arrivals at the barrier of the first block from all blocks, with and without bytes.
__global__ void arrive_across(Plain p) {
    __shared__ u64 barrier;
    prepare(&barrier, 8, 0);
    cluster_barrier();
    unsigned b = mapped(shared_address(&barrier), 0);
    if (threadIdx.x == 0) {
        if (p.operation == 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(b) : "memory");
        if (p.operation == 1) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], 2;" :: "r"(b) : "memory");
        if (p.operation == 2) asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 256;" :: "r"(b) : "memory");
        if (p.operation == 3) asm volatile("mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(b) : "memory");
        if (p.operation == 4) asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], 48;" :: "r"(b) : "memory");
        if (p.operation == 5) asm volatile("mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 32;" :: "r"(b) : "memory");
    }
    cluster_barrier();
    if (threadIdx.x == 0) {
        u64 token;
        unsigned over;
        asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(shared_address(&barrier)) : "memory");
        asm volatile("{ .reg .pred q; mbarrier.test_wait.parity.shared::cta.b64 q, [%1], 0; selp.u32 %0, 1, 0, q; }" : "=r"(over) : "r"(shared_address(&barrier)) : "memory");
        ((uint4 *)p.result)[blockIdx.x] = make_uint4((unsigned)(token >> 32), over, 0, 0);
    }
    cluster_barrier();
}

// A map is changed in shared memory, put into global memory and used; every field.
__global__ void replace_fields(const __grid_constant__ CUtensorMap map, Place p, int field, u64 value, CUtensorMap *made, uint4 *result) {
    __shared__ u64 barrier;
    __shared__ __align__(128) CUtensorMap own;
    prepare(&barrier, 1, 0xA5);
    if (threadIdx.x < 32) ((unsigned *)&own)[threadIdx.x] = ((const unsigned *)&map)[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        u64 m = (u64)shared_address(&own);
        unsigned v = (unsigned)value;
#define FIELD(n, f, t, o, x, c) if (field == n) asm volatile("tensormap.replace.tile." f ".shared::cta.b1024." t " [%0], " o "%1;" :: "l"(m), c(x) : "memory")
        FIELD(0, "global_address", "b64", "", value, "l");
        FIELD(1, "box_dim", "b32", "0, ", v, "r"); FIELD(2, "box_dim", "b32", "1, ", v, "r"); FIELD(3, "box_dim", "b32", "2, ", v, "r");
        FIELD(4, "global_dim", "b32", "0, ", v, "r"); FIELD(5, "global_dim", "b32", "1, ", v, "r"); FIELD(6, "global_dim", "b32", "2, ", v, "r");
        FIELD(7, "global_stride", "b64", "0, ", value, "l"); FIELD(8, "global_stride", "b64", "1, ", value, "l");
        FIELD(9, "element_stride", "b32", "1, ", v, "r"); FIELD(10, "element_stride", "b32", "2, ", v, "r");
#undef FIELD
#define FIELD(n, f, x) if (field == n) asm volatile("tensormap.replace.tile." f ".shared::cta.b1024.b32 [%0], " x ";" :: "l"(m) : "memory")
        FIELD(11, "swizzle_mode", "0"); FIELD(12, "swizzle_mode", "1"); FIELD(13, "swizzle_mode", "2"); FIELD(14, "swizzle_mode", "3");
        FIELD(15, "elemtype", "0"); FIELD(16, "elemtype", "1"); FIELD(17, "elemtype", "2"); FIELD(18, "elemtype", "3");
        FIELD(19, "elemtype", "6"); FIELD(20, "elemtype", "7"); FIELD(21, "elemtype", "9"); FIELD(22, "fill_mode", "1"); FIELD(23, "fill_mode", "0");
#undef FIELD
    }
    __syncwarp();
    if (threadIdx.x < 32) {
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" :: "l"(made), "l"((u64)shared_address(&own)) : "memory");
        if (threadIdx.x == 0) {
            asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(made) : "memory");
            tensor_load<3, 0>(made, p, &barrier);
        }
    }
    finish(&barrier, p.bytes, result);
}

template <int M> __global__ void load_multicast(const __grid_constant__ CUtensorMap map, Place p, unsigned mask, unsigned char *result) {
    __shared__ u64 barrier;
    prepare(&barrier, 1, 0x3C);
    cluster_barrier();
    if (threadIdx.x == 0 && rank_in_cluster() == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
            :: "r"(shared_address(buffer() + p.shared)), "l"(&map), "r"(p.at[0]), "r"(p.at[1]), "r"(shared_address(&barrier)), "h"((unsigned short)mask) : "memory");
    finish(&barrier, mask >> rank_in_cluster() & 1 ? p.bytes : 0, (uint4 *)(result + blockIdx.x * (BUFFER + 16)));
    cluster_barrier();
}
