/* Pointers of the driver API: what they belong to, and advice about memory. */
#include "driver.h"

#include "device.h"

#include <string.h>

EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *first, size_t *size, CUdeviceptr address) {
    CUresult status = begin(CONTEXT);
    struct block *block = status ? NULL : block_of(address, 1);
    if (!status && !block)
        status = NOT_FOUND;
    if (!status) {
        if (first)
            *first = block->address;
        if (size)
            *size = block->size;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer, unsigned flags) {
    CUresult status = begin(CONTEXT);
    struct block *block = status ? NULL : block_of((uint64_t)pointer, 1);
    if (!status && (flags || !block || !is_host(block)))
        status = INVALID_VALUE;
    if (!status)
        *address = (uint64_t)pointer;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemHostGetFlags(unsigned *flags, void *pointer) {
    CUresult status = begin(CONTEXT);
    if (!status && !block_of((uint64_t)pointer, 1))
        status = INVALID_VALUE;
    if (!status)
        *flags = 3; /* portable and mapped */
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size, int advice, memory_location location) {
    (void)advice, (void)location;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    return finish(status ? status : block_of(address, size) ? SUCCESS : INVALID_VALUE, CALL_NS);
}

EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, memory_location location, unsigned flags,
                                      CUstream stream) {
    (void)location, (void)flags;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !stream_known(stream))
        status = INVALID_HANDLE;
    return finish(status ? status : block_of(address, size) ? SUCCESS : INVALID_VALUE, CALL_NS);
}

/* Attributes */

enum { OF_CONTEXT = 1, OF_TYPE, OF_DEVICE, OF_HOST, OF_ID = 7, IS_MANAGED, OF_ORDINAL, OF_START = 11, OF_SIZE, IS_MAPPED };
enum { SYNCHRONOUS = 6, NOWHERE = -2 };

static CUresult attribute_of(void *data, int attribute, uint64_t pointer) {
    struct block *block = block_of(pointer, 1);
    if (!block)
        return INVALID_VALUE;
    switch (attribute) {
    case OF_CONTEXT:
        return cuCtxGetCurrent(data);
    case OF_TYPE:
        *(unsigned *)data = is_host(block) ? TYPE_HOST : TYPE_DEVICE;
        return SUCCESS;
    case OF_DEVICE:
        *(uint64_t *)data = pointer;
        return SUCCESS;
    case OF_HOST:
        *(uint64_t *)data = pointer;
        return is_host(block) || block->kind == MANAGED_MEMORY ? SUCCESS : INVALID_VALUE;
    case OF_ID:
    case OF_START:
        *(uint64_t *)data = block->address;
        return SUCCESS;
    case IS_MANAGED:
        *(int *)data = block->kind == MANAGED_MEMORY;
        return SUCCESS;
    case OF_ORDINAL:
        *(int *)data = block->device;
        return SUCCESS;
    case OF_SIZE:
        *(uint64_t *)data = block->size;
        return SUCCESS;
    case IS_MAPPED:
        *(int *)data = 1;
        return SUCCESS;
    default:
        return NOT_SUPPORTED;
    }
}

EXPORT CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr pointer) {
    CUresult status = begin(CONTEXT);
    return finish(status ? status : attribute_of(data, attribute, pointer), CALL_NS);
}

EXPORT CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **data, CUdeviceptr pointer) {
    CUresult status = begin(CONTEXT);
    for (unsigned n = 0; n < count && !status; n++)
        if (attribute_of(data[n], attributes[n], pointer)) /* of memory that is not CUDA's: zero, and no error */
            memset(data[n], 0, attributes[n] == OF_TYPE || attributes[n] >= IS_MANAGED ? 4 : 8);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemRangeGetAttribute(void *data, size_t bytes, int attribute, CUdeviceptr address, size_t size) {
    CUresult status = begin(CONTEXT);
    struct block *block = status ? NULL : block_of(address, size);
    if (!status && !(block && block->kind == MANAGED_MEMORY && data && bytes >= 4))
        status = INVALID_VALUE;
    if (!status) /* 1: mostly read; 3: a list of devices; else where it is, or is wanted: nobody has said */
        *(int *)data = attribute == 1 ? 0 : NOWHERE;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemRangeGetAttributes(void **data, size_t *bytes, int *attributes, size_t count, CUdeviceptr address,
                                         size_t size) {
    CUresult status = data && bytes && attributes && count ? SUCCESS : INVALID_VALUE;
    for (size_t n = 0; n < count && !status; n++)
        status = cuMemRangeGetAttribute(data[n], bytes[n], attributes[n], address, size);
    return status;
}

EXPORT CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr pointer) {
    (void)value;
    CUresult status = begin(CONTEXT);
    if (!status && !(block_of(pointer, 1) && attribute == SYNCHRONOUS))
        status = INVALID_VALUE;
    return finish(status, CALL_NS);
}
