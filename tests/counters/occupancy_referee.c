// Asks NVIDIA's own calculator.  Each line of stdin is one launch (see the scanf below), each line of stdout its answer:
// resident blocks, then the blocks that registers, shared memory, warps, blocks and barriers admit, then the limiters.
#include <limits.h>
#include <stdio.h>

#include "cuda_occupancy.h"

int main(void) {
    int major, minor, threads_per_sm, registers, block_threads, barriers, carveout;
    size_t shared_per_sm, optin, reserved, shared_static, shared_dynamic;
    while (scanf("%d %d %d %zu %zu %zu %d %d %zu %zu %d %d", &major, &minor, &threads_per_sm, &shared_per_sm, &optin,
                 &reserved, &registers, &block_threads, &shared_static, &shared_dynamic, &barriers, &carveout) == 12) {
        cudaOccDeviceProp device = {0};
        device.computeMajor = major;
        device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = threads_per_sm;
        device.regsPerBlock = 65536;
        device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.sharedMemPerBlock = 48 * 1024;
        device.sharedMemPerMultiprocessor = shared_per_sm;
        device.numSms = 1;
        device.sharedMemPerBlockOptin = optin;
        device.reservedSharedMemPerBlock = reserved;

        cudaOccFuncAttributes kernel = {0};
        kernel.maxThreadsPerBlock = INT_MAX;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = shared_static;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = 1 << 24;
        kernel.numBlockBarriers = barriers;

        cudaOccDeviceState state = {0};
        state.carveoutConfig = carveout;

        cudaOccResult answer = {0};
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&answer, &device, &kernel, &state, block_threads, shared_dynamic))
            return 1;
        printf("%d %d %d %d %d %d %u\n", answer.activeBlocksPerMultiprocessor, answer.blockLimitRegs,
               answer.blockLimitSharedMem, answer.blockLimitWarps, answer.blockLimitBlocks, answer.blockLimitBarriers,
               answer.limitingFactors);
    }
    return 0;
}
