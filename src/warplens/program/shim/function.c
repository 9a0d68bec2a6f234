/* Functions of the driver API: attributes (CU_FUNC_ATTRIBUTE_*) and occupancy. */
#include "driver.h"

#include "device.h"

enum { SHARED = 1, MAX_DYNAMIC_SHARED = 8, CARVEOUT = 9, MOST_CLUSTER_BLOCKS = 8 /* that every GPU with clusters allows */ };

EXPORT CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    function = on_device(function, current_device());
    if (!status)
        status = function ? resolve(function) : INVALID_HANDLE;
    if (!status) {
        const struct function_info *info = &function->info;
        int known[] = {info->max_threads, info->shared_bytes, info->constant_bytes, info->local_bytes, info->registers,
                       info->binary_version, info->binary_version, 0, function->max_dynamic_shared, function->carveout,
                       info->cluster[0] > 0, info->cluster[0], info->cluster[1], info->cluster[2], 0, 0};
        if (attribute < 0 || attribute >= (int)(sizeof known / sizeof *known))
            status = INVALID_VALUE;
        else
            *value = known[attribute];
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    function = on_device(function, current_device());
    if (!status)
        status = function ? resolve(function) : INVALID_HANDLE;
    if (!status && attribute == MAX_DYNAMIC_SHARED) {
        if (value < 0 || value > gpu.attributes[97] - (int)function->info.shared_bytes)
            status = INVALID_VALUE;
        else
            function->max_dynamic_shared = value;
    } else if (!status && attribute == CARVEOUT) {
        function->carveout = value;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuKernelGetAttribute(int *value, int attribute, CUfunction kernel, CUdevice device) {
    (void)device;
    return cuFuncGetAttribute(value, attribute, kernel);
}

EXPORT CUresult cuKernelSetAttribute(int attribute, int value, CUfunction kernel, CUdevice device) {
    (void)device;
    return cuFuncSetAttribute(kernel, attribute, value);
}

EXPORT CUresult cuFuncSetCacheConfig(CUfunction function, int configuration) {
    (void)function, (void)configuration;
    return finish(begin(CONTEXT_AND_NO_FAULT), CALL_NS);
}

EXPORT CUresult cuKernelSetCacheConfig(CUfunction kernel, int configuration, CUdevice device) {
    (void)device;
    return cuFuncSetCacheConfig(kernel, configuration);
}

EXPORT CUresult cuFuncSetSharedMemConfig(CUfunction function, int configuration) {
    return cuFuncSetCacheConfig(function, configuration);
}

EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t number, size_t *offset, size_t *size) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = resolve(function);
    if (!status && number >= function->info.parameter_count)
        status = INVALID_VALUE;
    if (!status) {
        *offset = function->parameters[number].offset;
        if (size)
            *size = function->parameters[number].size;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuKernelGetParamInfo(CUfunction kernel, size_t number, size_t *offset, size_t *size) {
    return cuFuncGetParamInfo(kernel, number, offset, size);
}

/* Occupancy */

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block, size_t shared) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = function && block > 0 ? resolve(function) : INVALID_VALUE;
    struct occupancy_request request = {function ? function->info.id : 0, block, shared, 0};
    int32_t found = 0;
    if (!status)
        status = ask(OCCUPANCY, &request, sizeof request, NULL, 0, &found, sizeof found, NULL);
    if (!status)
        *blocks = found;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block,
                                                                     size_t shared, unsigned flags) {
    (void)flags;
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block, shared);
}

typedef size_t (*shared_of_block)(int block);

/* The block size with the most resident threads, the largest of those. */
EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, shared_of_block shared_of,
                                                 size_t shared, int limit) {
    int most = 0, threads;
    CUresult status = cuFuncGetAttribute(&threads, 0, function);
    if (!status && limit && limit < threads)
        threads = limit;
    for (int size = threads / 32 * 32; size > 0 && !status; size -= 32) {
        int resident = 0;
        status = cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, size, shared_of ? shared_of(size) : shared);
        if (!status && resident * size > most) {
            most = resident * size;
            *block = size;
            *grid = resident * gpu.attributes[16];
        }
    }
    return status;
}

EXPORT CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                          shared_of_block shared_of, size_t shared, int limit,
                                                          unsigned flags) {
    (void)flags;
    return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared, limit);
}

/* Clusters.  On a GPU the blocks of one run within one GPC; where these end is not described, and left out. */

EXPORT CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const driver_launch *c) {
    int blocks = 0;
    struct shape shape = {0};
    if (!clusters || !c)
        return INVALID_VALUE;
    apply_attributes(&shape, c->attributes, c->attribute_count);
    int size = shape.cluster.x ? shape.cluster.x * shape.cluster.y * shape.cluster.z : 1, threads = c->block.x * c->block.y * c->block.z;
    CUresult status = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, c->shared);
    if (!status)
        *clusters = blocks * gpu.attributes[16] / size;
    return status;
}

EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int *blocks, CUfunction function, const driver_launch *c) {
    int resident = 0;
    if (!blocks || !c)
        return INVALID_VALUE;
    CUresult status = cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, c->block.x * c->block.y * c->block.z, c->shared);
    if (!status)
        *blocks = resident ? MOST_CLUSTER_BLOCKS : 0;
    return status;
}

EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int block) {
    (void)block;
    int used;
    CUresult status = cuFuncGetAttribute(&used, SHARED, function);
    if (!status && blocks < 1)
        status = INVALID_VALUE;
    if (!status) {
        long most = gpu.attributes[81] / blocks - gpu.attributes[111] - used;
        *bytes = most < gpu.attributes[97] - used ? most : gpu.attributes[97] - used;
    }
    return status;
}
