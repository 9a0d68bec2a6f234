/* Launches in steps: block, parameters and grid are set one after the other, as before CUDA 4. */
#include "driver.h"

#include "device.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4096, BUFFER_END = 0, BUFFER_POINTER = 1, BUFFER_SIZE = 2 };

struct older_launch {
    unsigned block[3], shared;
    size_t size;
    char parameters[MOST_BYTES];
};

static CUresult begin_older(CUfunction function, struct older_launch **found) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !function)
        status = INVALID_HANDLE;
    if (!status && !function->older)
        function->older = calloc(1, sizeof *function->older);
    *found = status ? NULL : function->older;
    return status;
}

EXPORT CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
    struct older_launch *older;
    CUresult status = begin_older(function, &older);
    if (!status && (x < 1 || y < 1 || z < 1))
        status = INVALID_VALUE;
    if (!status)
        older->block[0] = x, older->block[1] = y, older->block[2] = z;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
    struct older_launch *older;
    CUresult status = begin_older(function, &older);
    if (!status)
        older->shared = bytes;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
    struct older_launch *older;
    CUresult status = begin_older(function, &older);
    if (!status && bytes > MOST_BYTES)
        status = INVALID_VALUE;
    if (!status)
        older->size = bytes;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuParamSetv(CUfunction function, int offset, const void *value, unsigned bytes) {
    struct older_launch *older;
    CUresult status = begin_older(function, &older);
    if (!status && (offset < 0 || (size_t)offset + bytes > MOST_BYTES))
        status = INVALID_VALUE;
    if (!status)
        memcpy(older->parameters + offset, value, bytes);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
    return cuParamSetv(function, offset, &value, sizeof value);
}

EXPORT CUresult cuParamSetf(CUfunction function, int offset, float value) {
    return cuParamSetv(function, offset, &value, sizeof value);
}

EXPORT CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
    struct older_launch *older;
    CUresult status = finish(begin_older(function, &older), 0);
    if (status)
        return status;
    void *extra[] = {(void *)BUFFER_POINTER, older->parameters, (void *)BUFFER_SIZE, &older->size, (void *)BUFFER_END};
    const unsigned *block = older->block;
    return cuLaunchKernel(function, width, height, 1, block[0], block[1], block[2], older->shared, stream, NULL, extra);
}

EXPORT CUresult cuLaunchGrid(CUfunction function, int width, int height) {
    return cuLaunchGridAsync(function, width, height, NULL);
}

EXPORT CUresult cuLaunch(CUfunction function) {
    return cuLaunchGrid(function, 1, 1);
}
