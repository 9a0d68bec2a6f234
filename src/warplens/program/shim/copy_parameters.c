/* Parameters of copies: the boxes of both APIs, which may lie in arrays, as rows of bytes. */
#include "memory_kinds/array.h"

#include "device.h"

#include <string.h>

/* The first byte of a side; arrays are counted in elements, other memory in bytes. */
static char *side(const struct array *array, const pitched_pointer *memory, const position *at, size_t *pitch, size_t *slice) {
    *pitch = array ? array->pitch : memory->pitch;
    *slice = *pitch * (array ? array->rows : memory->height);
    char *base = array ? (char *)array->address : memory->data;
    return base + at->z * *slice + at->y * *pitch + at->x * (array ? array->element : 1);
}

static int within(const struct array *array, const position *at, const extent *size) {
    return !array || (at->x + size->width <= array->size.width && at->y + size->height <= array->rows &&
                      at->z + size->depth <= array->layers);
}

CUresult rows_of(const copy_3d *c, struct rows *rows) {
    if (!within(c->from_array, &c->from_position, &c->size) || !within(c->to_array, &c->to_position, &c->size))
        return INVALID_VALUE;
    const struct array *array = c->from_array ? c->from_array : c->to_array;
    if (!(c->from_array || c->from.data) || !(c->to_array || c->to.data))
        return INVALID_VALUE;
    rows->width = c->size.width * (array ? array->element : 1);
    rows->height = c->size.height;
    rows->depth = c->size.depth;
    rows->from = side(c->from_array, &c->from, &c->from_position, &rows->from_pitch, &rows->from_slice);
    rows->to = side(c->to_array, &c->to, &c->to_position, &rows->to_pitch, &rows->to_slice);
    return SUCCESS;
}

copy_3d copy_of_rows(const struct rows *r, enum copy_kind kind) {
    return (copy_3d){
        .from = {(void *)r->from, r->from_pitch, r->width, r->from_pitch ? r->from_slice / r->from_pitch : 0},
        .to = {r->to, r->to_pitch, r->width, r->to_pitch ? r->to_slice / r->to_pitch : 0},
        .size = {r->width, r->height, r->depth},
        .kind = kind,
    };
}

copy_3d copy_of_bytes(void *to, const void *from, size_t size, enum copy_kind kind) {
    struct rows rows = {to, from, size, 1, 1, size, size, size, size};
    return copy_of_rows(&rows, kind);
}

/* The driver's boxes: x in bytes, also where they lie in arrays. */

static void take_side(const box_side *s, pitched_pointer *memory, position *at, struct array **array) {
    *array = s->type == TYPE_ARRAY ? s->array : NULL;
    *memory = (pitched_pointer){s->type == TYPE_HOST ? (void *)s->host : (void *)s->device, s->pitch, s->pitch, s->height};
    *at = (position){*array ? s->x / (*array)->element : s->x, s->y, s->z};
}

copy_3d copy_of_box(const box_copy *box) {
    copy_3d c = {.kind = ANY_KIND, .size = {box->width, box->height, box->depth}};
    take_side(&box->from, &c.from, &c.from_position, &c.from_array);
    take_side(&box->to, &c.to, &c.to_position, &c.to_array);
    const struct array *array = c.from_array ? c.from_array : c.to_array;
    c.size.width /= array ? array->element : 1;
    return c;
}

static box_side give_side(struct array *array, const pitched_pointer *memory, const position *at, int host) {
    return (box_side){
        .x = at->x * (array ? array->element : 1), .y = at->y, .z = at->z,
        .type = array ? TYPE_ARRAY : host ? TYPE_HOST : TYPE_DEVICE,
        .host = host ? memory->data : NULL, .device = host ? 0 : (CUdeviceptr)memory->data,
        .array = array, .pitch = memory->pitch, .height = memory->height,
    };
}

box_copy box_of_copy(const copy_3d *c) {
    const struct array *array = c->from_array ? c->from_array : c->to_array;
    return (box_copy){
        .from = give_side(c->from_array, &c->from, &c->from_position, !of_device(c->from.data)),
        .to = give_side(c->to_array, &c->to, &c->to_position, !of_device(c->to.data)),
        .width = c->size.width * (array ? array->element : 1), .height = c->size.height, .depth = c->size.depth,
    };
}
