/* Memory of the driver API: allocations, copies, fills, attributes of pointers. */
#include "device.h"

#include <string.h>

/* Allocations */

static CUresult allocate_as(enum block_kind kind, size_t size, uint64_t *address) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = size && address ? allocate(size, kind, address) : INVALID_VALUE;
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
    return allocate_as(DEVICE_MEMORY, size, address);
}

EXPORT CUresult cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags) {
    return flags == 1 || flags == 2 ? allocate_as(MANAGED_MEMORY, size, address) : INVALID_VALUE;
}

EXPORT CUresult cuMemHostAlloc(void **address, size_t size, unsigned flags) {
    (void)flags; /* page-locked memory is always mapped and portable here */
    return allocate_as(PINNED_MEMORY, size, (uint64_t *)address);
}

EXPORT CUresult cuMemAllocHost_v2(void **address, size_t size) {
    return cuMemHostAlloc(address, size, 0);
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !stream_known(stream))
        status = INVALID_HANDLE;
    if (!status)
        status = size ? allocate(size, DEVICE_MEMORY, address) : INVALID_VALUE;
    return finish(status, EVENT_NS);
}

EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !(width && height && (element == 4 || element == 8 || element == 16)))
        status = INVALID_VALUE;
    if (!status) {
        size_t unit = gpu.attributes[51];
        *pitch = (width + unit - 1) / unit * unit;
        status = allocate(*pitch * height, DEVICE_MEMORY, address);
    }
    return finish(status, ALLOCATE_NS);
}

static CUresult free_block(uint64_t address, int of_host, int waits, int64_t cost) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && waits)
        wait_until(device_end());
    if (!status && address)
        status = release(address, of_host);
    return finish(status, cost);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    return free_block(address, 0, 1, ALLOCATE_NS);
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    (void)stream;
    return free_block(address, 0, 0, EVENT_NS);
}

EXPORT CUresult cuMemFreeHost(void *address) {
    return free_block((uint64_t)address, 1, 1, ALLOCATE_NS);
}

EXPORT CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
    CUresult status = begin(CONTEXT);
    if (!status) {
        *available = bytes_free();
        *total = gpu.memory_bytes;
    }
    return finish(status, CALL_NS);
}

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
    if (!status && (flags || !block || block->kind != PINNED_MEMORY))
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

/* Copies.  `kind`: what the name of the function says. */

static CUresult copy(void *to, const void *from, size_t size, enum copy_kind kind, CUstream stream, int waits) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct rows rows = {to, from, size, 1, 1, size, size, 0, 0};
    if (!status)
        status = copy_rows(&rows, kind, stream, waits);
    if (waits)
        show_printed();
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
    return copy((void *)to, from, size, HOST_TO_DEVICE, NULL, 1);
}

EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
    return copy(to, (void *)from, size, DEVICE_TO_HOST, NULL, 1);
}

EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
    return copy((void *)to, (void *)from, size, DEVICE_TO_DEVICE, NULL, 1);
}

EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
    return copy((void *)to, (void *)from, size, ANY_KIND, NULL, 1);
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    return copy((void *)to, from, size, HOST_TO_DEVICE, stream, 0);
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy(to, (void *)from, size, DEVICE_TO_HOST, stream, 0);
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy((void *)to, (void *)from, size, DEVICE_TO_DEVICE, stream, 0);
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy((void *)to, (void *)from, size, ANY_KIND, stream, 0);
}

static char *start_of(const copy_side *side) {
    char *base = side->type == TYPE_HOST ? (char *)side->host : (char *)side->device;
    return base + side->y * side->pitch + side->x;
}

static CUresult copy_2d_on(const copy_2d *c, CUstream stream, int waits) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && (c->from.type == TYPE_ARRAY || c->to.type == TYPE_ARRAY))
        status = NOT_SUPPORTED;
    struct rows rows = {start_of(&c->to), start_of(&c->from), c->width, c->height, 1, c->to.pitch, c->from.pitch, 0, 0};
    if (!status)
        status = copy_rows(&rows, ANY_KIND, stream, waits);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemcpy2D_v2(const copy_2d *c) {
    return copy_2d_on(c, NULL, 1);
}

EXPORT CUresult cuMemcpy2DUnaligned_v2(const copy_2d *c) {
    return copy_2d_on(c, NULL, 1);
}

EXPORT CUresult cuMemcpy2DAsync_v2(const copy_2d *c, CUstream stream) {
    return copy_2d_on(c, stream, 0);
}

/* Fills; `count` is in elements. */

static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, int element, size_t count, size_t rows, CUstream stream) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = fill_rows(to, pitch, count * element, rows, value, element, stream, 0);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    return fill(to, 0, value, 1, count, 1, NULL);
}

EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
    return fill(to, 0, value, 2, count, 1, NULL);
}

EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
    return fill(to, 0, value, 4, count, 1, NULL);
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return fill(to, 0, value, 1, count, 1, stream);
}

EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    return fill(to, 0, value, 2, count, 1, stream);
}

EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    return fill(to, 0, value, 4, count, 1, stream);
}

EXPORT CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
    return fill(to, pitch, value, 1, width, height, NULL);
}

EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                                  CUstream stream) {
    return fill(to, pitch, value, 1, width, height, stream);
}

EXPORT CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
    return fill(to, pitch, value, 4, width, height, NULL);
}

/* Attributes of pointers */

enum { OF_CONTEXT = 1, OF_TYPE, OF_DEVICE, OF_HOST, OF_ID = 7, IS_MANAGED, OF_ORDINAL, OF_START = 11, OF_SIZE, IS_MAPPED };

static CUresult attribute_of(void *data, int attribute, uint64_t pointer) {
    struct block *block = block_of(pointer, 1);
    if (!block)
        return INVALID_VALUE;
    switch (attribute) {
    case OF_CONTEXT:
        return cuCtxGetCurrent(data);
    case OF_TYPE:
        *(unsigned *)data = block->kind == PINNED_MEMORY ? TYPE_HOST : TYPE_DEVICE;
        return SUCCESS;
    case OF_DEVICE:
        *(uint64_t *)data = pointer;
        return SUCCESS;
    case OF_HOST:
        *(uint64_t *)data = pointer;
        return block->kind == PINNED_MEMORY || block->kind == MANAGED_MEMORY ? SUCCESS : INVALID_VALUE;
    case OF_ID:
    case OF_START:
        *(uint64_t *)data = block->address;
        return SUCCESS;
    case IS_MANAGED:
        *(int *)data = block->kind == MANAGED_MEMORY;
        return SUCCESS;
    case OF_ORDINAL:
        *(int *)data = 0;
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
