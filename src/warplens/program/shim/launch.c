/* Launches, and attributes and occupancy of functions. */
#include "graphs/capture.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_END = 0, BUFFER_POINTER = 1, BUFFER_SIZE = 2 }; /* of `extra` (CU_LAUNCH_PARAM_*) */

/* The parameter block: from pointers to the values, or a block as the caller laid it out. */
static void gather(const struct function *function, char *block, void **values, void **extra) {
    for (unsigned n = 0; values && n < function->info.parameter_count; n++)
        memcpy(block + function->parameters[n].offset, values[n], function->parameters[n].size);
    const void *given = NULL;
    size_t size = 0;
    for (; !values && extra && *extra != (void *)BUFFER_END; extra += 2) {
        if (*extra == (void *)BUFFER_POINTER)
            given = extra[1];
        else if (*extra == (void *)BUFFER_SIZE)
            size = *(size_t *)extra[1];
    }
    if (given)
        memcpy(block, given, size < function->info.parameter_bytes ? size : function->info.parameter_bytes);
}

static int within(unsigned value, int attribute) {
    return value >= 1 && value <= (unsigned)gpu.attributes[attribute];
}

static CUresult check(const struct function *function, const struct shape *shape) {
    const dim3 *grid = &shape->grid, *block = &shape->block;
    if (!(within(block->x, 2) && within(block->y, 3) && within(block->z, 4)))
        return INVALID_CONFIGURATION;
    if (!(within(grid->x, 5) && within(grid->y, 6) && within(grid->z, 7)))
        return INVALID_CONFIGURATION;
    unsigned threads = block->x * block->y * block->z;
    if (threads > (unsigned)gpu.attributes[1])
        return INVALID_CONFIGURATION;
    if (threads > function->info.max_threads)
        return LAUNCH_OUT_OF_RESOURCES;
    if (shape->shared > (size_t)function->max_dynamic_shared)
        return INVALID_VALUE;
    return SUCCESS;
}

static CUresult execute(const struct launch_request *request, const char *block, size_t bytes,
                        struct launch_answer *answer, CUstream stream) {
    struct rest rest = {NULL, 0};
    CUresult status = ask(LAUNCH, request, sizeof *request, block, bytes, answer, sizeof *answer, &rest);
    if (!status) {
        struct touched_block *touched = (struct touched_block *)rest.data;
        set_l2_state(answer->l2);
        set_deferred(answer->flags & DEFERRED);
        size_t list = answer->touched * sizeof *touched;
        keep_repeat(request, block, bytes, answer, touched);
        if (answer->fault)
            keep_fault(answer->fault);
        keep_printed(rest.data + list, rest.bytes - list);
        int64_t end = queue_work(stream, COMPUTE, answer->share, answer->nanoseconds);
        for (uint32_t n = 0; n < answer->touched; n++)
            if (touched[n].written && block_of(touched[n].address, 0))
                guard_from_host(block_of(touched[n].address, 0), end);
    }
    free(rest.data);
    return status;
}

/* Checks a launch, and gives its parameter block; the caller frees it. */
CUresult prepare_launch(struct function *function, const struct shape *shape, void **values, void **extra, char **block) {
    if (!function)
        return INVALID_HANDLE;
    CUresult status = resolve(function);
    if (!status)
        status = check(function, shape);
    if (status)
        return status;
    *block = calloc(1, function->info.parameter_bytes + 1);
    gather(function, *block, values, extra);
    return SUCCESS;
}

CUresult launch_block(struct function *function, const struct shape *shape, const char *block) {
    if (!function->resolved) /* of a graph whose module has gone */
        return INVALID_HANDLE;
    const dim3 *g = &shape->grid, *b = &shape->block, *c = &shape->cluster;
    struct launch_request request = {function->info.id,  {g->x, g->y, g->z},  {b->x, b->y, b->z},
                                     shape->shared, {c->x, c->y, c->z}, shape->cooperative};
    struct repeat *repeated = find_repeat(&request, block, function->info.parameter_bytes);
    struct launch_answer answer;
    return repeated ? launch_again(repeated, shape->stream)
                    : execute(&request, block, function->info.parameter_bytes, &answer, shape->stream);
}

CUresult launch(struct function *function, const struct shape *shape, void **values, void **extra) {
    int captured;
    CUresult status = check_capture(shape->stream, &captured);
    if (status)
        return status;
    function = on_device(function, found_stream(shape->stream)->device);
    if (captured) {
        struct work work;
        status = kernel_work(&work, function, shape, values, extra);
        return status ? status : capture_work(shape->stream, &work);
    }
    char *block;
    status = prepare_launch(function, shape, values, extra, &block);
    if (status)
        return status;
    take_launch_time(function);
    status = launch_block(function, shape, block);
    free(block);
    return status;
}

void apply_attributes(struct shape *shape, const launch_attribute *attributes, unsigned count) {
    for (unsigned n = 0; n < count; n++) {
        if (attributes[n].id == ATTRIBUTE_CLUSTER)
            shape->cluster = attributes[n].value.cluster;
        else if (attributes[n].id == ATTRIBUTE_COOPERATIVE)
            shape->cooperative = attributes[n].value.number;
    }
}

/* Launches of the driver API, which has no code of its own for a wrong configuration. */

static CUresult launch_checked(CUfunction function, const struct shape *shape, void **values, void **extra) {
    CUresult status = begin_in(shape->stream);
    if (!status)
        status = launch(function, shape, values, extra);
    return finish(status == INVALID_CONFIGURATION ? INVALID_VALUE : status, 0);
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, CUstream stream, void **values, void **extra) {
    struct shape shape = {{gx, gy, gz}, {bx, by, bz}, {0, 0, 0}, shared, 0, stream};
    return launch_checked(function, &shape, values, extra);
}

EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                          unsigned by, unsigned bz, unsigned shared, CUstream stream, void **values) {
    struct shape shape = {{gx, gy, gz}, {bx, by, bz}, {0, 0, 0}, shared, 1, stream};
    return launch_checked(function, &shape, values, NULL);
}

EXPORT CUresult cuLaunchKernelEx(const driver_launch *c, CUfunction function, void **values, void **extra) {
    struct shape shape = {c->grid, c->block, {0, 0, 0}, c->shared, 0, c->stream};
    apply_attributes(&shape, c->attributes, c->attribute_count);
    return launch_checked(function, &shape, values, extra);
}
