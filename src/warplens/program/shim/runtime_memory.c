/* Memory of the runtime API: allocations, copies, fills, symbols. */
#include "driver.h"
#include "runtime.h"

#include <string.h>

/* Allocations.  Those of nothing succeed, unlike the driver's. */

EXPORT CUresult cudaMalloc(void **pointer, size_t size) {
    if (pointer && !size)
        *pointer = NULL;
    return RUNTIME(pointer && !size ? SUCCESS : cuMemAlloc_v2((CUdeviceptr *)pointer, size));
}

EXPORT CUresult cudaMallocManaged(void **pointer, size_t size, unsigned flags) {
    return RUNTIME(cuMemAllocManaged((CUdeviceptr *)pointer, size, flags));
}

EXPORT CUresult cudaHostAlloc(void **pointer, size_t size, unsigned flags) {
    if (pointer && !size)
        *pointer = NULL;
    return RUNTIME(pointer && !size ? SUCCESS : cuMemHostAlloc(pointer, size, flags));
}

EXPORT CUresult cudaMallocHost(void **pointer, size_t size) {
    return cudaHostAlloc(pointer, size, 0);
}

EXPORT CUresult cudaMallocAsync(void **pointer, size_t size, CUstream stream) {
    return RUNTIME(cuMemAllocAsync((CUdeviceptr *)pointer, size, stream));
}

EXPORT CUresult cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    return RUNTIME(cuMemAllocPitch_v2((CUdeviceptr *)pointer, pitch, width, height, 4));
}

EXPORT CUresult cudaMalloc3D(pitched_pointer *pointer, extent size) {
    CUdeviceptr address = 0;
    size_t pitch = 0;
    CUresult status = RUNTIME(cuMemAllocPitch_v2(&address, &pitch, size.width, size.height * size.depth, 4));
    if (!status)
        *pointer = (pitched_pointer){(void *)address, pitch, size.width, size.height};
    return status;
}

EXPORT CUresult cudaFree(void *pointer) {
    return RUNTIME(cuMemFree_v2((CUdeviceptr)pointer));
}

EXPORT CUresult cudaFreeHost(void *pointer) {
    return RUNTIME(cuMemFreeHost(pointer));
}

EXPORT CUresult cudaFreeAsync(void *pointer, CUstream stream) {
    return RUNTIME(cuMemFreeAsync((CUdeviceptr)pointer, stream));
}

EXPORT CUresult cudaMemGetInfo(size_t *available, size_t *total) {
    return RUNTIME(cuMemGetInfo_v2(available, total));
}

EXPORT CUresult cudaMallocFromPoolAsync(void **pointer, size_t size, struct pool *pool, CUstream stream) {
    return RUNTIME(cuMemAllocFromPoolAsync((CUdeviceptr *)pointer, size, pool, stream));
}

EXPORT CUresult cudaHostGetDevicePointer(void **address, void *pointer, unsigned flags) {
    return RUNTIME(cuMemHostGetDevicePointer_v2((CUdeviceptr *)address, pointer, flags));
}

EXPORT CUresult cudaHostGetFlags(unsigned *flags, void *pointer) {
    return RUNTIME(cuMemHostGetFlags(flags, pointer));
}

EXPORT CUresult cudaPointerGetAttributes(pointer_attributes *found, const void *pointer) {
    start_runtime();
    begin(NOTHING);
    struct block *block = block_of((uint64_t)pointer, 1);
    int type = !block ? 0 : is_host(block) ? 1 : block->kind == MANAGED_MEMORY ? 3 : 2;
    *found = (pointer_attributes){.type = type, .device = block ? block->device : -2};
    if (block) {
        found->device_pointer = (void *)pointer;
        found->host_pointer = found->type == 2 ? NULL : (void *)pointer;
    }
    return keep_error(finish(SUCCESS, CALL_NS));
}

EXPORT CUresult cudaMemPrefetchAsync(const void *pointer, size_t size, memory_location location, unsigned flags,
                                     CUstream stream) {
    (void)location, (void)flags;
    start_runtime();
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !stream_known(stream))
        status = INVALID_HANDLE;
    if (!status && !block_of((uint64_t)pointer, size))
        status = INVALID_VALUE;
    return keep_error(finish(status, CALL_NS));
}

EXPORT CUresult cudaMemRangeGetAttribute(void *data, size_t bytes, int attribute, const void *pointer, size_t size) {
    return RUNTIME(cuMemRangeGetAttribute(data, bytes, attribute, (CUdeviceptr)pointer, size));
}

EXPORT CUresult cudaMemRangeGetAttributes(void **data, size_t *bytes, int *attributes, size_t count, const void *pointer,
                                          size_t size) {
    return RUNTIME(cuMemRangeGetAttributes(data, bytes, attributes, count, (CUdeviceptr)pointer, size));
}

EXPORT CUresult cudaMemAdvise(const void *pointer, size_t size, int advice, memory_location location) {
    (void)advice;
    return cudaMemPrefetchAsync(pointer, size, location, 0, NULL);
}

/* Copies */

static CUresult copy(const struct rows *rows, int kind, CUstream stream, int waits) {
    start_runtime();
    if (kind < HOST_TO_HOST || kind > ANY_KIND)
        return keep_error(INVALID_MEMCPY_DIRECTION);
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = copy_rows(rows, kind, stream, waits);
    if (waits)
        show_printed();
    return keep_error(finish(status, CALL_NS));
}

static CUresult copy_bytes(void *to, const void *from, size_t size, int kind, CUstream stream, int waits) {
    struct rows rows = {to, from, size, 1, 1, size, size, 0, 0};
    return copy(&rows, kind, stream, waits);
}

EXPORT CUresult cudaMemcpy(void *to, const void *from, size_t size, int kind) {
    return copy_bytes(to, from, size, kind, NULL, 1);
}

EXPORT CUresult cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, CUstream stream) {
    return copy_bytes(to, from, size, kind, stream, 0);
}

static CUresult copy_between(void *to, int to_device, const void *from, int from_device, size_t size, CUstream stream,
                             int waits) {
    int known = to_device >= 0 && to_device < gpu.devices && from_device >= 0 && from_device < gpu.devices;
    return known ? copy_bytes(to, from, size, DEVICE_TO_DEVICE, stream, waits) : RUNTIME(INVALID_DEVICE);
}

EXPORT CUresult cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size) {
    return copy_between(to, to_device, from, from_device, size, NULL, 1);
}

EXPORT CUresult cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size,
                                    CUstream stream) {
    return copy_between(to, to_device, from, from_device, size, stream, 0);
}

EXPORT CUresult cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                  size_t height, int kind, CUstream stream) {
    struct rows rows = {to, from, width, height, 1, to_pitch, from_pitch, 0, 0};
    return copy(&rows, kind, stream, 0);
}

EXPORT CUresult cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                             int kind) {
    struct rows rows = {to, from, width, height, 1, to_pitch, from_pitch, 0, 0};
    return copy(&rows, kind, NULL, 1);
}

/* Fills */

static CUresult fill(void *to, size_t pitch, int value, size_t width, size_t height, CUstream stream) {
    start_runtime();
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = fill_rows((uint64_t)to, pitch, width, height, value & 255, 1, stream, 0);
    return keep_error(finish(status, CALL_NS));
}

EXPORT CUresult cudaMemset(void *to, int value, size_t size) {
    return fill(to, 0, value, size, 1, NULL);
}

EXPORT CUresult cudaMemsetAsync(void *to, int value, size_t size, CUstream stream) {
    return fill(to, 0, value, size, 1, stream);
}

EXPORT CUresult cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return fill(to, pitch, value, width, height, NULL);
}

EXPORT CUresult cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, CUstream stream) {
    return fill(to, pitch, value, width, height, stream);
}

EXPORT CUresult cudaMemset3DAsync(pitched_pointer to, int value, extent size, CUstream stream) {
    return fill(to.data, to.pitch, value, size.width, size.height * size.depth, stream);
}

EXPORT CUresult cudaMemset3D(pitched_pointer to, int value, extent size) {
    return fill(to.data, to.pitch, value, size.width, size.height * size.depth, NULL);
}

/* Symbols */

static CUresult place_of(const void *symbol, uint64_t *address, uint64_t *size) {
    start_runtime();
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    return finish(status ? status : symbol_of(symbol, address, size), CALL_NS);
}

EXPORT CUresult cudaGetSymbolAddress(void **pointer, const void *symbol) {
    uint64_t address, size;
    CUresult status = place_of(symbol, &address, &size);
    if (!status)
        *pointer = (void *)address;
    return keep_error(status);
}

EXPORT CUresult cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    uint64_t address, size;
    CUresult status = place_of(symbol, &address, &size);
    if (!status)
        *bytes = size;
    return keep_error(status);
}

static CUresult copy_symbol(const void *symbol, void *other, size_t count, size_t offset, int kind, int to_symbol,
                            CUstream stream, int waits) {
    uint64_t address, size;
    CUresult status = place_of(symbol, &address, &size);
    if (!status && (offset > size || count > size - offset))
        status = INVALID_VALUE;
    if (status)
        return keep_error(status);
    void *place = (void *)(address + offset);
    return to_symbol ? copy_bytes(place, other, count, kind, stream, waits)
                     : copy_bytes(other, place, count, kind, stream, waits);
}

EXPORT CUresult cudaMemcpyToSymbol(const void *symbol, const void *from, size_t count, size_t offset, int kind) {
    return copy_symbol(symbol, (void *)from, count, offset, kind, 1, NULL, 1);
}

EXPORT CUresult cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t count, size_t offset, int kind,
                                        CUstream stream) {
    return copy_symbol(symbol, (void *)from, count, offset, kind, 1, stream, 0);
}

EXPORT CUresult cudaMemcpyFromSymbol(void *to, const void *symbol, size_t count, size_t offset, int kind) {
    return copy_symbol(symbol, to, count, offset, kind, 0, NULL, 1);
}

EXPORT CUresult cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t count, size_t offset, int kind,
                                          CUstream stream) {
    return copy_symbol(symbol, to, count, offset, kind, 0, stream, 0);
}
