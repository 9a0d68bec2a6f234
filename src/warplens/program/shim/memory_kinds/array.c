/* Arrays of both APIs, and copies of them.  Kernels read them through textures and surfaces (texture.c). */
#include "array.h"

#include "graphs/capture.h"
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

typedef struct { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} array_description;

typedef struct { /* CUDA_ARRAY_DESCRIPTOR */
    size_t width, height;
    int format;
    unsigned channels;
} flat_description;

/* CUarray_format: bits, and kind of cudaChannelFormatDesc */
static const struct {
    int number, bits, kind;
} formats[] = {{1, 8, 1}, {2, 16, 1}, {3, 32, 1}, {8, 8, 0}, {9, 16, 0}, {10, 32, 0}, {16, 16, 2}, {32, 32, 2}};

static int place_of(int number, int bits, int kind) {
    for (int n = 0; n < (int)(sizeof formats / sizeof *formats); n++)
        if (number ? formats[n].number == number : formats[n].bits == bits && formats[n].kind == kind)
            return n;
    return -1;
}

int channel_count(const channel_format *f) {
    int channels = 0;
    while (f && channels < 4 && f->bits[channels])
        channels++;
    return channels;
}

int driver_format(const channel_format *f) {
    int place = f ? place_of(0, f->bits[0], f->kind) : -1;
    return place < 0 ? 0 : formats[place].number;
}

channel_format format_of_driver(int number, int channels) {
    int place = place_of(number, 0, 0);
    channel_format made = {.kind = place < 0 ? -1 : formats[place].kind};
    for (int n = 0; n < channels && n < 4 && place >= 0; n++)
        made.bits[n] = formats[place].bits;
    return made;
}

CUresult describe_array(struct array *a, int number, int channels, extent size, unsigned flags) {
    int format = number ? place_of(number, 0, 0) : -1;
    if (format < 0 || (channels != 1 && channels != 2 && channels != 4) || !size.width)
        return INVALID_VALUE;
    int bits = formats[format].bits;
    *a = (struct array){.element = bits / 8 * channels, .rows = size.height ? size.height : 1,
                        .layers = size.depth ? size.depth : 1, .size = size, .channels = channels, .flags = flags,
                        .driver_format = formats[format].number, .format = {.kind = formats[format].kind}};
    for (int n = 0; n < channels; n++)
        a->format.bits[n] = bits;
    size_t unit = gpu.attributes[PITCH_UNIT];
    a->pitch = (size.width * a->element + unit - 1) / unit * unit;
    return SUCCESS;
}

static CUresult make(struct array **made, int number, int channels, extent size, unsigned flags) {
    struct array *a = calloc(1, sizeof *a);
    CUresult status = made ? describe_array(a, number, channels, size, flags) : INVALID_VALUE;
    if (!status)
        status = allocate(a->pitch * a->rows * a->layers, DEVICE_MEMORY, &a->address);
    if (status)
        free(a);
    else
        *made = a;
    return status;
}

EXPORT CUresult cuArray3DCreate_v2(struct array **array, const array_description *d) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = d ? make(array, d->format, d->channels, (extent){d->width, d->height, d->depth}, d->flags)
                   : INVALID_VALUE;
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuArrayCreate_v2(struct array **array, const flat_description *d) {
    array_description full = d ? (array_description){d->width, d->height, 0, d->format, d->channels, 0} : (array_description){0};
    return cuArray3DCreate_v2(array, &full);
}

EXPORT CUresult cuArrayDestroy(struct array *array) {
    CUresult status = begin_in(array ? (const void *)array->address : NULL);
    if (!status)
        status = array && !array->is_level ? release(array->address, 0) : INVALID_HANDLE;
    if (!status)
        free(array);
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuArray3DGetDescriptor_v2(array_description *d, const struct array *a) {
    CUresult status = begin(CONTEXT);
    if (!status && !(a && d))
        status = INVALID_HANDLE;
    if (!status)
        *d = (array_description){a->size.width, a->size.height, a->size.depth, a->driver_format, a->channels, a->flags};
    return finish(status, CALL_NS);
}

EXPORT CUresult cuArrayGetDescriptor_v2(flat_description *d, const struct array *a) {
    array_description full = {0};
    CUresult status = cuArray3DGetDescriptor_v2(&full, a);
    if (!status)
        *d = (flat_description){full.width, full.height, full.format, full.channels};
    return status;
}

EXPORT CUresult cudaMalloc3DArray(struct array **array, const channel_format *f, extent size, unsigned flags) {
    start_runtime();
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = make(array, driver_format(f), channel_count(f), size, flags);
    return keep_error(finish(status, ALLOCATE_NS));
}

EXPORT CUresult cudaMallocArray(struct array **array, const channel_format *f, size_t width, size_t height, unsigned flags) {
    return cudaMalloc3DArray(array, f, (extent){width, height, 0}, flags);
}

EXPORT CUresult cudaFreeArray(struct array *array) {
    return RUNTIME(array ? cuArrayDestroy(array) : SUCCESS);
}

EXPORT CUresult cudaArrayGetInfo(channel_format *format, extent *size, unsigned *flags, const struct array *array) {
    if (array && format)
        *format = array->format;
    if (array && size)
        *size = array->size;
    if (array && flags)
        *flags = array->flags;
    return RUNTIME(array ? SUCCESS : INVALID_HANDLE);
}

EXPORT CUresult cudaGetChannelDesc(channel_format *format, const struct array *array) {
    return cudaArrayGetInfo(format, NULL, NULL, array);
}

EXPORT channel_format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (channel_format){{x, y, z, w}, kind};
}

/* Copies */

static CUresult copy(const copy_3d *c, CUstream stream, int waits) {
    struct rows rows;
    CUresult status = begin_in(stream);
    if (!status)
        status = c ? rows_of(c, &rows) : INVALID_VALUE;
    if (!status)
        status = copy_rows(&rows, c->kind, stream, waits);
    if (waits)
        show_printed();
    return finish(status, CALL_NS);
}

static box_side side_of(const copy_side *s) {
    return (box_side){.x = s->x, .y = s->y, .type = s->type, .host = s->host, .device = s->device, .array = s->array,
                      .pitch = s->pitch};
}

static CUresult copy_flat(const copy_2d *c, CUstream stream, int waits) {
    box_copy box = {side_of(&c->from), side_of(&c->to), c->width, c->height, 1};
    copy_3d copied = copy_of_box(&box);
    return copy(&copied, stream, waits);
}

EXPORT CUresult cuMemcpy2D_v2(const copy_2d *c) {
    return copy_flat(c, NULL, 1);
}

EXPORT CUresult cuMemcpy2DUnaligned_v2(const copy_2d *c) {
    return copy_flat(c, NULL, 1);
}

EXPORT CUresult cuMemcpy2DAsync_v2(const copy_2d *c, CUstream stream) {
    return copy_flat(c, stream, 0);
}

EXPORT CUresult cuMemcpy3D_v2(const box_copy *box) {
    copy_3d copied = copy_of_box(box);
    return copy(&copied, NULL, 1);
}

EXPORT CUresult cuMemcpy3DAsync_v2(const box_copy *box, CUstream stream) {
    copy_3d copied = copy_of_box(box);
    return copy(&copied, stream, 0);
}

EXPORT CUresult cuMemcpyHtoA_v2(struct array *to, size_t offset, const void *from, size_t size) {
    box_copy box = {{.type = TYPE_HOST, .host = from}, {.x = offset, .type = TYPE_ARRAY, .array = to}, size, 1, 1};
    return cuMemcpy3D_v2(&box);
}

EXPORT CUresult cuMemcpyAtoH_v2(void *to, struct array *from, size_t offset, size_t size) {
    box_copy box = {{.x = offset, .type = TYPE_ARRAY, .array = from}, {.type = TYPE_HOST, .host = to}, size, 1, 1};
    return cuMemcpy3D_v2(&box);
}

EXPORT CUresult cuMemcpyHtoAAsync_v2(struct array *to, size_t offset, const void *from, size_t size, CUstream stream) {
    box_copy box = {{.type = TYPE_HOST, .host = from}, {.x = offset, .type = TYPE_ARRAY, .array = to}, size, 1, 1};
    return cuMemcpy3DAsync_v2(&box, stream);
}

EXPORT CUresult cuMemcpyAtoHAsync_v2(void *to, struct array *from, size_t offset, size_t size, CUstream stream) {
    box_copy box = {{.x = offset, .type = TYPE_ARRAY, .array = from}, {.type = TYPE_HOST, .host = to}, size, 1, 1};
    return cuMemcpy3DAsync_v2(&box, stream);
}

EXPORT CUresult cuMemcpyDtoA_v2(struct array *to, size_t offset, CUdeviceptr from, size_t size) {
    box_copy box = {{.type = TYPE_DEVICE, .device = from}, {.x = offset, .type = TYPE_ARRAY, .array = to}, size, 1, 1};
    return cuMemcpy3D_v2(&box);
}

EXPORT CUresult cuMemcpyAtoD_v2(CUdeviceptr to, struct array *from, size_t offset, size_t size) {
    box_copy box = {{.x = offset, .type = TYPE_ARRAY, .array = from}, {.type = TYPE_DEVICE, .device = to}, size, 1, 1};
    return cuMemcpy3D_v2(&box);
}

EXPORT CUresult cuMemcpyAtoA_v2(struct array *to, size_t to_offset, struct array *from, size_t offset, size_t size) {
    box_copy box = {{.x = offset, .type = TYPE_ARRAY, .array = from}, {.x = to_offset, .type = TYPE_ARRAY, .array = to}, size, 1, 1};
    return cuMemcpy3D_v2(&box);
}

EXPORT CUresult cudaMemcpy3D(const copy_3d *c) {
    return RUNTIME(copy(c, NULL, 1));
}

EXPORT CUresult cudaMemcpy3DAsync(const copy_3d *c, CUstream stream) {
    return RUNTIME(copy(c, stream, 0));
}

/* Copies between an array and rows; `width` in bytes. */

static copy_3d to_array(struct array *to, position at, const void *from, size_t pitch, extent size, int kind) {
    size_t element = to ? to->element : 1;
    at.x /= element, size.width /= element;
    return (copy_3d){.to_array = to, .to_position = at, .from = {(void *)from, pitch, pitch, size.height}, .size = size, .kind = kind};
}

static copy_3d from_array(void *to, size_t pitch, struct array *from, position at, extent size, int kind) {
    size_t element = from ? from->element : 1;
    at.x /= element, size.width /= element;
    return (copy_3d){.from_array = from, .from_position = at, .to = {to, pitch, pitch, size.height}, .size = size, .kind = kind};
}

EXPORT CUresult cudaMemcpy2DToArrayAsync(struct array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                         size_t height, int kind, CUstream stream) {
    copy_3d c = to_array(to, (position){x, y, 0}, from, pitch, (extent){width, height, 1}, kind);
    return RUNTIME(copy(&c, stream, 0));
}

EXPORT CUresult cudaMemcpy2DToArray(struct array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                    size_t height, int kind) {
    copy_3d c = to_array(to, (position){x, y, 0}, from, pitch, (extent){width, height, 1}, kind);
    return RUNTIME(copy(&c, NULL, 1));
}

EXPORT CUresult cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, struct array *from, size_t x, size_t y, size_t width,
                                           size_t height, int kind, CUstream stream) {
    copy_3d c = from_array(to, pitch, from, (position){x, y, 0}, (extent){width, height, 1}, kind);
    return RUNTIME(copy(&c, stream, 0));
}

EXPORT CUresult cudaMemcpy2DFromArray(void *to, size_t pitch, struct array *from, size_t x, size_t y, size_t width,
                                      size_t height, int kind) {
    copy_3d c = from_array(to, pitch, from, (position){x, y, 0}, (extent){width, height, 1}, kind);
    return RUNTIME(copy(&c, NULL, 1));
}

/* So many bytes, row by row. */
static CUresult copy_run(struct array *array, position at, char *other, size_t bytes, int kind, int into, CUstream stream,
                         int waits) {
    size_t width = array ? array->size.width * array->element : 0;
    CUresult status = array && at.x < width ? SUCCESS : INVALID_VALUE;
    while (bytes && !status) {
        size_t part = width - at.x < bytes ? width - at.x : bytes;
        extent row = {part, 1, 1};
        copy_3d c = into ? to_array(array, at, other, part, row, kind) : from_array(other, part, array, at, row, kind);
        status = copy(&c, stream, waits);
        other += part, bytes -= part;
        at = (position){0, at.y + 1, 0};
    }
    return status;
}

EXPORT CUresult cudaMemcpyToArray(struct array *to, size_t x, size_t y, const void *from, size_t bytes, int kind) {
    return RUNTIME(copy_run(to, (position){x, y, 0}, (char *)from, bytes, kind, 1, NULL, 1));
}

EXPORT CUresult cudaMemcpyFromArray(void *to, struct array *from, size_t x, size_t y, size_t bytes, int kind) {
    return RUNTIME(copy_run(from, (position){x, y, 0}, to, bytes, kind, 0, NULL, 1));
}

EXPORT CUresult cudaMemcpyToArrayAsync(struct array *to, size_t x, size_t y, const void *from, size_t bytes, int kind,
                                       CUstream stream) {
    return RUNTIME(copy_run(to, (position){x, y, 0}, (char *)from, bytes, kind, 1, stream, 0));
}

EXPORT CUresult cudaMemcpyFromArrayAsync(void *to, struct array *from, size_t x, size_t y, size_t bytes, int kind,
                                         CUstream stream) {
    return RUNTIME(copy_run(from, (position){x, y, 0}, to, bytes, kind, 0, stream, 0));
}

EXPORT CUresult cudaMemcpyArrayToArray(struct array *to, size_t to_x, size_t to_y, struct array *from, size_t x, size_t y,
                                       size_t bytes, int kind) {
    size_t width = from && to && from->element == to->element ? bytes / from->element : 0;
    copy_3d c = {.from_array = from, .from_position = {from ? x / from->element : 0, y, 0}, .to_array = to,
                 .to_position = {to ? to_x / to->element : 0, to_y, 0}, .size = {width, 1, 1}, .kind = kind};
    return RUNTIME(width ? copy(&c, NULL, 1) : INVALID_VALUE);
}

EXPORT CUresult cudaMemcpy2DArrayToArray(struct array *to, size_t to_x, size_t to_y, struct array *from, size_t x, size_t y,
                                         size_t width, size_t height, int kind) {
    size_t elements = from && to && from->element == to->element ? width / from->element : 0;
    copy_3d c = {.from_array = from, .from_position = {from ? x / from->element : 0, y, 0}, .to_array = to,
                 .to_position = {to ? to_x / to->element : 0, to_y, 0}, .size = {elements, height, 1}, .kind = kind};
    return RUNTIME(elements ? copy(&c, NULL, 1) : INVALID_VALUE);
}
