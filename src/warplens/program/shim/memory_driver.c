/* Memory of the driver API: allocations, copies, fills. */
#include "graphs/capture.h"

#include "driver.h"

#include <string.h>

/* Allocations */

static CUresult allocate_as(enum block_kind kind, size_t size, uint64_t *address) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = forbid_in_capture();
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

EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !(width && height && (element == 4 || element == 8 || element == 16)))
        status = INVALID_VALUE;
    if (!status) {
        size_t unit = gpu.attributes[PITCH_UNIT];
        *pitch = (width + unit - 1) / unit * unit;
        status = allocate(*pitch * height, DEVICE_MEMORY, address);
    }
    return finish(status, ALLOCATE_NS);
}

static CUresult free_block(uint64_t address, int of_host) {
    CUresult status = begin_in((const void *)address);
    if (!status)
        status = forbid_in_capture();
    if (!status)
        wait_until(device_end(current_device()));
    if (!status && address)
        status = release(address, of_host);
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    return free_block(address, 0);
}

EXPORT CUresult cuMemFreeHost(void *address) {
    return free_block((uint64_t)address, 1);
}

EXPORT CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
    CUresult status = begin(CONTEXT);
    if (!status && available)
        *available = bytes_free(current_device());
    if (!status && total)
        *total = gpu.memory_bytes;
    return finish(status, CALL_NS);
}

/* Copies.  `kind`: what the name of the function says. */

static CUresult copy(void *to, const void *from, size_t size, enum copy_kind kind, CUstream stream, int waits) {
    CUresult status = begin_in(stream);
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

EXPORT CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size) {
    (void)to_context, (void)from_context; /* a block says whose it is */
    return copy((void *)to, (void *)from, size, DEVICE_TO_DEVICE, NULL, 1);
}

EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                  size_t size, CUstream stream) {
    (void)to_context, (void)from_context;
    return copy((void *)to, (void *)from, size, DEVICE_TO_DEVICE, stream, 0);
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy((void *)to, (void *)from, size, ANY_KIND, stream, 0);
}

/* Fills; `count` is in elements. */

static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, int element, size_t count, size_t rows, CUstream stream) {
    CUresult status = begin_in(stream);
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

EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                                   CUstream stream) {
    return fill(to, pitch, value, 4, width, height, stream);
}

EXPORT CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
    return fill(to, pitch, value, 2, width, height, NULL);
}

EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                                   CUstream stream) {
    return fill(to, pitch, value, 2, width, height, stream);
}
