// Warp-level primitives with lanes outside the mask, and with lanes of the mask that have exited or are elsewhere.
// Each is compiled three times: in code that all threads reach together (no BRA.DIV), in a branch and behind it
// (BRA.DIV), and in a branch with a mask for each lane.  tests/validation/warp_lanes.py has the cases.

#define HERE(set) ((set) >> lane & 1)

#define PRIMITIVE(name, expression)                                                                                   \
    __device__ __forceinline__ unsigned name(unsigned mask, unsigned x, unsigned lane) { return expression; }         \
    extern "C" __global__ void straight_##name(unsigned *out, const unsigned *in, unsigned gone, unsigned mask) {     \
        unsigned lane = threadIdx.x;                                                                                  \
        if (HERE(gone)) return;                                                                                       \
        out[lane] = name(mask, in[lane], lane);                                                                       \
    }                                                                                                                 \
    extern "C" __global__ void constant_##name(unsigned *out, const unsigned *in, unsigned gone, unsigned present) {  \
        unsigned lane = threadIdx.x, x = in[lane];                                                                    \
        if (HERE(gone)) return;                                                                                       \
        if (HERE(present)) out[lane] = name(0x0000FFFFu, x, lane);                                                    \
        out[32 + lane] = name(0x00FF00FFu, x, lane);                                                                  \
    }                                                                                                                 \
    extern "C" __global__ void branch_##name(unsigned *out, const unsigned *in, unsigned gone, unsigned present,      \
                                             unsigned mask, unsigned after) {                                         \
        unsigned lane = threadIdx.x, x = in[lane];                                                                    \
        if (HERE(gone)) return;                                                                                       \
        if (HERE(present)) out[lane] = name(mask, x, lane);                                                           \
        out[32 + lane] = name(after, x, lane);                                                                        \
    }                                                                                                                 \
    extern "C" __global__ void lanes_##name(unsigned *out, const unsigned *in, unsigned gone, unsigned present,       \
                                            const unsigned *masks) {                                                  \
        unsigned lane = threadIdx.x, x = in[lane], mask = masks[lane];                                                \
        if (HERE(gone)) return;                                                                                       \
        if (HERE(present)) out[lane] = name(mask, x, lane);                                                           \
        out[32 + lane] = name(mask, x + 1, lane);                                                                     \
    }

// in[lane] is 100 + lane.
PRIMITIVE(shfl_idx, __shfl_sync(mask, x, lane * 7 + 3))
PRIMITIVE(shfl_idx_of_8, __shfl_sync(mask, x, lane * 3 + 1, 8))
PRIMITIVE(shfl_up, __shfl_up_sync(mask, x, 16))
PRIMITIVE(shfl_up_of_16, __shfl_up_sync(mask, x, 3, 16))
PRIMITIVE(shfl_down, __shfl_down_sync(mask, x, 5))
PRIMITIVE(shfl_down_of_8, __shfl_down_sync(mask, x, 2, 8))
PRIMITIVE(shfl_xor, __shfl_xor_sync(mask, x, 16))
PRIMITIVE(shfl_xor_of_4, __shfl_xor_sync(mask, x, 5, 4))
PRIMITIVE(ballot, __ballot_sync(mask, x % 3 == 0))
PRIMITIVE(any_of, __any_sync(mask, x == 120))
PRIMITIVE(all_of, __all_sync(mask, x < 116))
PRIMITIVE(uniform, __uni_sync(mask, x < 116))
PRIMITIVE(match_any, __match_any_sync(mask, x % 5))
PRIMITIVE(match_any_64, __match_any_sync(mask, (unsigned long long)(x & 3) << 32 | 7))

__device__ __forceinline__ unsigned matched(unsigned mask, unsigned x) {
    int same;
    unsigned lanes = __match_all_sync(mask, x, &same);
    return lanes ^ (same ? 0x80000000u : 0);
}
PRIMITIVE(match_all, matched(mask, x < 116))
PRIMITIVE(reduce_add, __reduce_add_sync(mask, x))
PRIMITIVE(reduce_min, __reduce_min_sync(mask, (int)(x - 110)))
PRIMITIVE(reduce_max, __reduce_max_sync(mask, x ^ 21))
PRIMITIVE(reduce_and, __reduce_and_sync(mask, x | 1u << lane))
PRIMITIVE(reduce_or, __reduce_or_sync(mask, 1u << lane))
PRIMITIVE(reduce_xor, __reduce_xor_sync(mask, x * 2654435761u))
PRIMITIVE(active, __activemask() ^ mask)

__device__ __forceinline__ unsigned met(unsigned mask, unsigned x, unsigned lane) {
    __syncwarp(mask);
    return __ballot_sync(__activemask(), x & 1) + lane;
}
PRIMITIVE(syncwarp, met(mask, x, lane))

#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ unsigned elected(unsigned mask) {
    unsigned leader, chosen;
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(chosen) : "r"(mask));
    return leader * 2 + chosen;
}
PRIMITIVE(elect, elected(mask))
#endif
