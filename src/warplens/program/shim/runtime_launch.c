/* Launches of the runtime API, and attributes and occupancy of its functions. */
#include "runtime.h"

static CUresult launch_function(struct function *function, const struct shape *shape, void **values) {
    start_runtime();
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status) {
        place_managed_variables();
        status = launch(function, shape, values, NULL);
    }
    if (status == NOT_FOUND)
        status = INVALID_DEVICE_FUNCTION;
    return keep_error(finish(status, 0));
}

static CUresult launch_host(const void *host, const struct shape *shape, void **values) {
    struct function *function;
    CUresult status = function_of(host, &function);
    return status ? RUNTIME(status) : launch_function(function, shape, values);
}

EXPORT CUresult __cudaLaunchKernel(CUfunction kernel, dim3 grid, dim3 block, void **values, size_t shared, CUstream stream) {
    struct shape shape = {grid, block, {0, 0, 0}, shared, 0, stream};
    return launch_function(kernel, &shape, values);
}

EXPORT CUresult __cudaLaunchKernel_ptsz(CUfunction kernel, dim3 grid, dim3 block, void **values, size_t shared,
                                        CUstream stream) {
    return __cudaLaunchKernel(kernel, grid, block, values, shared, stream ? stream : (CUstream)2);
}

EXPORT CUresult cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **values, size_t shared, CUstream stream) {
    struct shape shape = {grid, block, {0, 0, 0}, shared, 0, stream};
    return launch_host(host, &shape, values);
}

EXPORT CUresult cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **values, size_t shared,
                                            CUstream stream) {
    struct shape shape = {grid, block, {0, 0, 0}, shared, 1, stream};
    return launch_host(host, &shape, values);
}

EXPORT CUresult cudaLaunchKernelExC(const runtime_launch *c, const void *host, void **values) {
    struct shape shape = {c->grid, c->block, {0, 0, 0}, c->shared, 0, c->stream};
    apply_attributes(&shape, c->attributes, c->attribute_count);
    return launch_host(host, &shape, values);
}

static CUresult value_of(const void *host, int attribute, int *value) {
    struct function *function;
    CUresult status = function_of(host, &function);
    start_runtime();
    status = status ? status : cuFuncGetAttribute(value, attribute, function);
    return status == NOT_FOUND ? INVALID_DEVICE_FUNCTION : status;
}

EXPORT CUresult cudaFuncGetAttributes(function_attributes *found, const void *host) {
    int values[16];
    for (int n = 0; n < 16; n++) {
        CUresult status = value_of(host, n, &values[n]);
        if (status)
            return keep_error(status);
    }
    *found = (function_attributes){
        .shared_bytes = values[1], .constant_bytes = values[2], .local_bytes = values[3], .max_threads = values[0],
        .registers = values[4], .ptx_version = values[5], .binary_version = values[6], .cache_mode = values[7],
        .max_dynamic_shared = values[8], .carveout = values[9],
        .cluster_must_be_set = values[10], .cluster = {values[11], values[12], values[13]}};
    return SUCCESS;
}

EXPORT CUresult cudaFuncSetAttribute(const void *host, int attribute, int value) {
    struct function *function;
    CUresult status = function_of(host, &function);
    return RUNTIME(status ? status : cuFuncSetAttribute(function, attribute, value));
}

EXPORT CUresult cudaFuncSetCacheConfig(const void *host, int configuration) {
    struct function *function;
    (void)configuration;
    return RUNTIME(function_of(host, &function));
}

EXPORT CUresult cudaFuncSetSharedMemConfig(const void *host, int configuration) {
    return cudaFuncSetCacheConfig(host, configuration);
}

EXPORT CUresult cudaFuncGetName(const char **name, const void *host) {
    struct function *function;
    CUresult status = function_of(host, &function);
    if (!status)
        *name = function->name;
    return RUNTIME(status);
}

EXPORT CUresult cudaGetFuncBySymbol(CUfunction *function, const void *host) {
    return RUNTIME(function_of(host, function));
}

EXPORT CUresult cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int block,
                                                                       size_t shared, unsigned flags) {
    (void)flags;
    struct function *function;
    CUresult status = function_of(host, &function);
    return RUNTIME(status ? status : cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block, shared));
}

EXPORT CUresult cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int block, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, block, shared, 0);
}

EXPORT CUresult cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int block) {
    struct function *function;
    CUresult status = function_of(host, &function);
    return RUNTIME(status ? status : cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block));
}

/* The runtime's description of a launch differs in the type of a size. */
static driver_launch as_driver(const runtime_launch *c) {
    return (driver_launch){c->grid, c->block, c->shared, c->stream, c->attributes, c->attribute_count};
}

EXPORT CUresult cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const runtime_launch *c) {
    struct function *function;
    CUresult status = c ? function_of(host, &function) : INVALID_VALUE;
    driver_launch launch = c ? as_driver(c) : (driver_launch){0};
    return RUNTIME(status ? status : cuOccupancyMaxActiveClusters(clusters, function, &launch));
}

EXPORT CUresult cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *host, const runtime_launch *c) {
    struct function *function;
    CUresult status = c ? function_of(host, &function) : INVALID_VALUE;
    driver_launch launch = c ? as_driver(c) : (driver_launch){0};
    return RUNTIME(status ? status : cuOccupancyMaxPotentialClusterSize(blocks, function, &launch));
}

EXPORT CUresult cudaFuncGetParamInfo(const void *host, size_t number, size_t *offset, size_t *size) {
    struct function *function;
    CUresult status = function_of(host, &function);
    return RUNTIME(status ? status : cuFuncGetParamInfo(function, number, offset, size));
}
