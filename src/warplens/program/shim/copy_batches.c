/* Batches: several copies, prefetches or discards in one call, and boxes between GPUs. */
#include "graphs/capture.h"

#include "driver.h"
#include "runtime.h"

typedef struct { /* cudaMemcpy3DPeerParms */
    struct array *from_array;
    position from_position;
    pitched_pointer from;
    int from_device;
    struct array *to_array;
    position to_position;
    pitched_pointer to;
    int to_device;
    extent size;
} peer_copy;

/* Copies of a batch may run in any order; wishes about when the source is read are kept by reading it at once. */
static CUresult copy_all(void *const *to, void *const *from, const size_t *sizes, size_t count, CUstream stream) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !(to && from && sizes && count))
        status = INVALID_VALUE;
    for (size_t n = 0; n < count && !status; n++) {
        struct rows rows = {to[n], from[n], sizes[n], 1, 1, sizes[n], sizes[n], 0, 0};
        status = copy_rows(&rows, ANY_KIND, stream, 0);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cudaMemcpyBatchAsync(void *const *to, void *const *from, const size_t *sizes, size_t count, const void *attributes,
                                     const size_t *places, size_t attribute_count, CUstream stream) {
    (void)attributes, (void)places, (void)attribute_count;
    return RUNTIME(copy_all(to, from, sizes, count, stream));
}

EXPORT CUresult cuMemcpyBatchAsync_v2(void *const *to, void *const *from, const size_t *sizes, size_t count,
                                      const void *attributes, const size_t *places, size_t attribute_count, CUstream stream) {
    (void)attributes, (void)places, (void)attribute_count;
    return copy_all(to, from, sizes, count, stream);
}

/* Ranges of managed memory: all of it is in reach of both here. */
static CUresult known_ranges(void *const *pointers, const size_t *sizes, size_t count, CUstream stream) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !stream_known(stream))
        status = INVALID_HANDLE;
    if (!status && !(pointers && sizes && count))
        status = INVALID_VALUE;
    for (size_t n = 0; n < count && !status; n++)
        if (!block_of((uint64_t)pointers[n], sizes[n]))
            status = INVALID_VALUE;
    return finish(status, CALL_NS);
}

EXPORT CUresult cudaMemPrefetchBatchAsync(void *const *pointers, const size_t *sizes, size_t count, const memory_location *locations,
                                          const size_t *places, size_t location_count, uint64_t flags, CUstream stream) {
    (void)locations, (void)places, (void)location_count, (void)flags;
    return RUNTIME(known_ranges(pointers, sizes, count, stream));
}

EXPORT CUresult cudaMemDiscardBatchAsync(void *const *pointers, const size_t *sizes, size_t count, uint64_t flags, CUstream stream) {
    (void)flags;
    return RUNTIME(known_ranges(pointers, sizes, count, stream));
}

EXPORT CUresult cudaMemDiscardAndPrefetchBatchAsync(void *const *pointers, const size_t *sizes, size_t count,
                                                    const memory_location *locations, const size_t *places,
                                                    size_t location_count, uint64_t flags, CUstream stream) {
    return cudaMemPrefetchBatchAsync(pointers, sizes, count, locations, places, location_count, flags, stream);
}

/* Boxes between GPUs: a block says whose it is. */

static copy_3d box_of(const peer_copy *c) {
    return (copy_3d){c->from_array, c->from_position, c->from, c->to_array, c->to_position, c->to, c->size, ANY_KIND};
}

static CUresult copy_peer(const peer_copy *c, CUstream stream, int waits) {
    struct rows rows;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !c)
        status = INVALID_VALUE;
    if (!status) {
        copy_3d box = box_of(c);
        status = rows_of(&box, &rows);
    }
    if (!status)
        status = copy_rows(&rows, ANY_KIND, stream, waits);
    return finish(status, CALL_NS);
}

EXPORT CUresult cudaMemcpy3DPeer(const peer_copy *c) {
    return RUNTIME(copy_peer(c, NULL, 1));
}

EXPORT CUresult cudaMemcpy3DPeerAsync(const peer_copy *c, CUstream stream) {
    return RUNTIME(copy_peer(c, stream, 0));
}

EXPORT CUresult cuMemcpy3DPeer(const box_copy *box) { /* CUDA_MEMCPY3D_PEER has a context where CUDA_MEMCPY3D has nothing */
    return cuMemcpy3D_v2(box);
}

EXPORT CUresult cuMemcpy3DPeerAsync(const box_copy *box, CUstream stream) {
    return cuMemcpy3DAsync_v2(box, stream);
}
