/* Mipmapped arrays of both APIs: the levels one behind the other in one block. */
#include "array.h"

#include "runtime.h"

#include <stdlib.h>

typedef struct { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} array_description;

static size_t at_level(size_t extent, int level) {
    return extent && !(extent >> level) ? 1 : extent >> level;
}

static int most_levels(extent size, unsigned flags) {
    size_t longest = size.width > size.height ? size.width : size.height;
    if (!(flags & (ARRAY_LAYERED | ARRAY_CUBEMAP)) && size.depth > longest)
        longest = size.depth;
    int levels = 1;
    while (longest >> levels)
        levels++;
    return levels < MOST_LEVELS ? levels : MOST_LEVELS;
}

static CUresult make(struct mipmapped_array **made, int format, int channels, extent size, unsigned count, unsigned flags) {
    if (!made || !count)
        return INVALID_VALUE;
    int most = most_levels(size, flags);
    struct mipmapped_array *m = calloc(1, sizeof *m);
    m->count = count < (unsigned)most ? (int)count : most; /* as a GPU does with more */
    uint64_t bytes = 0, address = 0;
    CUresult status = SUCCESS;
    for (int n = 0; n < m->count && !status; n++) {
        struct array *a = &m->levels[n];
        int layered = flags & (ARRAY_LAYERED | ARRAY_CUBEMAP);
        extent level = {at_level(size.width, n), at_level(size.height, n), layered ? size.depth : at_level(size.depth, n)};
        status = describe_array(a, format, channels, level, flags);
        a->is_level = 1;
        a->address = bytes;
        bytes += (a->pitch * a->rows * a->layers + 511) / 512 * 512;
    }
    if (!status)
        status = allocate(bytes, DEVICE_MEMORY, &address);
    for (int n = 0; n < m->count; n++)
        m->levels[n].address += address;
    if (status)
        free(m);
    else
        *made = m;
    return status;
}

EXPORT CUresult cuMipmappedArrayCreate(struct mipmapped_array **made, const array_description *d, unsigned levels) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = d ? make(made, d->format, d->channels, (extent){d->width, d->height, d->depth}, levels, d->flags) : INVALID_VALUE;
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuMipmappedArrayGetLevel(struct array **level, struct mipmapped_array *m, unsigned number) {
    CUresult status = begin(CONTEXT);
    if (!status)
        status = !m ? INVALID_HANDLE : level && number < (unsigned)m->count ? SUCCESS : INVALID_VALUE;
    if (!status)
        *level = &m->levels[number];
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMipmappedArrayDestroy(struct mipmapped_array *m) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = m ? release(m->levels[0].address, 0) : INVALID_HANDLE;
    if (!status)
        free(m);
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cudaMallocMipmappedArray(struct mipmapped_array **made, const channel_format *f, extent size, unsigned levels,
                                         unsigned flags) {
    start_runtime();
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = make(made, driver_format(f), channel_count(f), size, levels, flags);
    return keep_error(finish(status, ALLOCATE_NS));
}

EXPORT CUresult cudaGetMipmappedArrayLevel(struct array **level, struct mipmapped_array *m, unsigned number) {
    return RUNTIME(cuMipmappedArrayGetLevel(level, m, number));
}

EXPORT CUresult cudaFreeMipmappedArray(struct mipmapped_array *m) {
    return RUNTIME(m ? cuMipmappedArrayDestroy(m) : SUCCESS);
}
