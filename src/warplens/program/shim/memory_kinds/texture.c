/* Texture and surface objects of both APIs.  A handle is never given twice, so that what a launch remembers by its
   parameters stays true. */
#include "texture.h"

#include "runtime.h"

#include <stdlib.h>
#include <string.h>

enum { INVALID_FILTER_SETTING = 26, INVALID_NORM_SETTING = 27, INVALID_CHANNEL_DESCRIPTOR = 20 };

/* Bytes of a resource_description that are used: that of CUDA 12 ends there. */
enum { RESOURCE_BYTES = offsetof(resource_description, of.memory) + sizeof((resource_description){0}.of.memory) };

static struct texture *objects; /* by handle */
static uint64_t count = 1, room;

static int64_t word_of(float x) {
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static void add_level(struct texture_row *row, const struct array *a) {
    row->level[row->levels].address = a->address;
    row->level[row->levels].pitch = a->pitch;
    row->level[row->levels++].slice = a->pitch * a->rows;
}

static CUresult describe_array_of(struct texture_row *row, const struct array *a) {
    int layered = a->flags & (ARRAY_LAYERED | ARRAY_CUBEMAP);
    row->resource = OF_ARRAY;
    row->channels = a->channels, row->bits = a->format.bits[0], row->channel_kind = a->format.kind;
    row->width = a->size.width, row->height = a->rows;
    row->depth = layered ? 1 : a->layers, row->layers = layered ? a->layers : 1;
    return SUCCESS;
}

static CUresult describe_memory(struct texture_row *row, const resource_description *r) {
    const channel_format *f = &r->of.memory.format;
    int64_t channels = channel_count(f);
    if (!driver_format(f) || (channels != 1 && channels != 2 && channels != 4))
        return INVALID_CHANNEL_DESCRIPTOR;
    int64_t element = f->bits[0] / 8 * channels;
    int rows = r->type == RESOURCE_PITCHED;
    if (!block_of(r->of.memory.address, 1) || r->of.memory.address % gpu.attributes[14] || !r->of.memory.size)
        return INVALID_VALUE; /* attribute 14: alignment of textures */
    if (rows && (!r->of.memory.height || r->of.memory.pitch < r->of.memory.size * element || r->of.memory.pitch % gpu.attributes[51]))
        return INVALID_VALUE; /* attribute 51: alignment of their rows */
    row->resource = rows ? OF_ROWS : OF_LINEAR;
    row->channels = channels, row->bits = f->bits[0], row->channel_kind = f->kind;
    row->width = rows ? (int64_t)r->of.memory.size : (int64_t)r->of.memory.size / element;
    row->height = rows ? (int64_t)r->of.memory.height : 1;
    row->depth = row->layers = row->levels = 1;
    row->level[0].address = r->of.memory.address;
    row->level[0].pitch = rows ? r->of.memory.pitch : 0;
    return SUCCESS;
}

static CUresult describe_resource(struct texture_row *row, const resource_description *r) {
    if (r->type == RESOURCE_LINEAR || r->type == RESOURCE_PITCHED)
        return describe_memory(row, r);
    if (r->type == RESOURCE_MIPMAPPED && r->of.mipmapped) {
        for (int n = 0; n < r->of.mipmapped->count; n++)
            add_level(row, &r->of.mipmapped->levels[n]);
        return describe_array_of(row, &r->of.mipmapped->levels[0]);
    }
    if (r->type != RESOURCE_ARRAY || !r->of.array)
        return r->type == RESOURCE_ARRAY || r->type == RESOURCE_MIPMAPPED ? INVALID_HANDLE : INVALID_VALUE;
    add_level(row, r->of.array);
    return describe_array_of(row, r->of.array);
}

/* What the executor cannot do is refused by name. */
static const char *missing_part(const struct texture_row *row, const texture_description *t) {
    if (t->srgb)
        return "textures in sRGB";
    if (t->seamless && t->filter)
        return "seamless cubemaps";
    if (t->anisotropy > 1 && row->levels > 1)
        return "anisotropic filters";
    return NULL;
}

static CUresult describe_reading(struct texture_row *row, const texture_description *t) {
    int whole = row->channel_kind != 2;
    row->as_float = whole && t->read_mode;
    if (row->as_float && row->bits == 32)
        return INVALID_NORM_SETTING;
    if (t->filter && whole && !row->as_float)
        return INVALID_FILTER_SETTING;
    row->normalized = t->normalized != 0, row->linear = t->filter != 0;
    for (int n = 0; n < 3; n++) {
        int mode = t->address_modes[n];
        if (mode < WRAP || mode > BORDER)
            return INVALID_VALUE;
        row->address_modes[n] = !t->normalized && (mode == WRAP || mode == MIRROR) ? CLAMP : mode;
    }
    row->level_linear = t->level_filter != 0;
    row->bias = word_of(t->bias), row->least = word_of(t->least), row->most = word_of(t->most);
    for (int n = 0; n < 4; n++)
        row->border[n] = word_of(t->border[n]);
    return SUCCESS;
}

static CUresult publish(uint64_t handle, const struct texture_row *row) {
    struct rest nothing = {0};
    CUresult status = ask(TEXTURE, &handle, sizeof handle, row, sizeof *row, NULL, 0, &nothing);
    free(nothing.data);
    return status;
}

static CUresult create(uint64_t *handle, const resource_description *r, const texture_description *t, const void *view) {
    struct texture_row row = {0};
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !(handle && r))
        status = INVALID_VALUE;
    if (!status)
        status = describe_resource(&row, r);
    const char *missing = status ? NULL : view ? "views of textures" : t ? missing_part(&row, t) : NULL;
    if (missing) {
        report_missing(missing);
        status = NOT_SUPPORTED;
    }
    if (!status)
        status = t ? describe_reading(&row, t) : r->type == RESOURCE_ARRAY ? SUCCESS : INVALID_VALUE;
    if (!status)
        status = publish(count, &row);
    if (!status) {
        if (count >= room) {
            room = room ? 2 * room : 64;
            objects = realloc(objects, room * sizeof *objects);
        }
        objects[count] = (struct texture){.used = 1, .is_surface = !t, .context = current_context()};
        memcpy(&objects[count].resource, r, RESOURCE_BYTES);
        if (t)
            objects[count].description = *t;
        *handle = count++;
    }
    return finish(status, CALL_NS);
}

static struct texture *found(uint64_t handle, int is_surface) {
    return handle && handle < count && objects[handle].used && objects[handle].is_surface == is_surface ? &objects[handle] : NULL;
}

static CUresult drop(uint64_t handle) {
    struct texture_row none = {0};
    objects[handle].used = 0;
    return publish(handle, &none);
}

static CUresult destroy(uint64_t handle, int is_surface) {
    CUresult status = begin(CONTEXT);
    if (!status && handle)
        status = found(handle, is_surface) ? drop(handle) : INVALID_VALUE;
    return finish(status, CALL_NS);
}

void remove_textures_of(CUcontext context) {
    for (uint64_t handle = 1; handle < count; handle++)
        if (objects[handle].used && objects[handle].context == context)
            drop(handle);
}

/* The runtime API */

EXPORT CUresult cudaCreateTextureObject(uint64_t *handle, const resource_description *r, const texture_description *t,
                                        const void *view) {
    return RUNTIME(t ? create(handle, r, t, view) : INVALID_VALUE);
}

EXPORT CUresult cudaDestroyTextureObject(uint64_t handle) {
    return RUNTIME(destroy(handle, 0));
}

EXPORT CUresult cudaCreateSurfaceObject(uint64_t *handle, const resource_description *r) {
    return RUNTIME(create(handle, r, NULL, NULL));
}

EXPORT CUresult cudaDestroySurfaceObject(uint64_t handle) {
    return RUNTIME(destroy(handle, 1));
}

static CUresult give_resource(resource_description *r, uint64_t handle, int is_surface) {
    struct texture *t = found(handle, is_surface);
    if (r && t)
        memcpy(r, &t->resource, RESOURCE_BYTES);
    return r && t ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cudaGetTextureObjectResourceDesc(resource_description *r, uint64_t handle) {
    return RUNTIME(give_resource(r, handle, 0));
}

EXPORT CUresult cudaGetSurfaceObjectResourceDesc(resource_description *r, uint64_t handle) {
    return RUNTIME(give_resource(r, handle, 1));
}

EXPORT CUresult cudaGetTextureObjectTextureDesc(texture_description *d, uint64_t handle) {
    struct texture *t = found(handle, 0);
    if (d && t)
        *d = t->description;
    return RUNTIME(d && t ? SUCCESS : INVALID_VALUE);
}

EXPORT CUresult cudaGetTextureObjectResourceViewDesc(void *view, uint64_t handle) {
    (void)view, (void)handle; /* no object has a view */
    return RUNTIME(INVALID_VALUE);
}

/* The driver API, whose descriptions say the same in other words */

enum { AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10, NO_TRILINEAR_OPTIMIZATION = 0x20, SEAMLESS = 0x40 }; /* CU_TRSF_* */

static resource_description of_driver(const driver_resource *d) {
    resource_description r = {.type = d->type};
    if (d->type == RESOURCE_ARRAY || d->type == RESOURCE_MIPMAPPED) {
        r.of.array = d->of.array;
        return r;
    }
    r.of.memory.address = d->of.memory.address;
    r.of.memory.format = format_of_driver(d->of.memory.format, d->of.memory.channels);
    r.of.memory.size = d->of.memory.size, r.of.memory.height = d->of.memory.height, r.of.memory.pitch = d->of.memory.pitch;
    return r;
}

static driver_resource to_driver(const resource_description *r) {
    driver_resource d = {.type = r->type};
    if (r->type == RESOURCE_ARRAY || r->type == RESOURCE_MIPMAPPED) {
        d.of.array = r->of.array;
        return d;
    }
    d.of.memory.address = r->of.memory.address;
    d.of.memory.format = driver_format(&r->of.memory.format), d.of.memory.channels = channel_count(&r->of.memory.format);
    d.of.memory.size = r->of.memory.size, d.of.memory.height = r->of.memory.height, d.of.memory.pitch = r->of.memory.pitch;
    return d;
}

/* Integers of 32 bits stay what they are, whatever is asked. */
static int read_mode_of(const resource_description *r, const driver_texture *t) {
    const channel_format *f = r->type == RESOURCE_ARRAY && r->of.array         ? &r->of.array->format
                              : r->type == RESOURCE_MIPMAPPED && r->of.mipmapped ? &r->of.mipmapped->levels[0].format
                                                                                 : &r->of.memory.format;
    return !(t->flags & AS_INTEGER) && f->bits[0] != 32;
}

EXPORT CUresult cuTexObjectCreate(uint64_t *handle, const driver_resource *d, const driver_texture *t, const void *view) {
    if (!d || !t)
        return INVALID_VALUE;
    resource_description r = of_driver(d);
    texture_description made = {.filter = t->filter, .read_mode = read_mode_of(&r, t), .srgb = (t->flags & SRGB) != 0,
                                .normalized = (t->flags & NORMALIZED) != 0, .anisotropy = t->anisotropy,
                                .level_filter = t->level_filter, .bias = t->bias, .least = t->least, .most = t->most,
                                .no_trilinear_optimization = (t->flags & NO_TRILINEAR_OPTIMIZATION) != 0,
                                .seamless = (t->flags & SEAMLESS) != 0};
    memcpy(made.address_modes, t->address_modes, sizeof made.address_modes);
    memcpy(made.border, t->border, sizeof made.border);
    CUresult status = create(handle, &r, &made, view);
    return status == INVALID_FILTER_SETTING || status == INVALID_NORM_SETTING || status == INVALID_CHANNEL_DESCRIPTOR
               ? INVALID_VALUE
               : status;
}

EXPORT CUresult cuTexObjectDestroy(uint64_t handle) {
    return destroy(handle, 0);
}

EXPORT CUresult cuSurfObjectCreate(uint64_t *handle, const driver_resource *d) {
    resource_description r = d ? of_driver(d) : (resource_description){0};
    return d ? create(handle, &r, NULL, NULL) : INVALID_VALUE;
}

EXPORT CUresult cuSurfObjectDestroy(uint64_t handle) {
    return destroy(handle, 1);
}

static CUresult give_driver_resource(driver_resource *d, uint64_t handle, int is_surface) {
    struct texture *t = found(handle, is_surface);
    if (d && t)
        *d = to_driver(&t->resource);
    return d && t ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cuTexObjectGetResourceDesc(driver_resource *d, uint64_t handle) {
    return give_driver_resource(d, handle, 0);
}

EXPORT CUresult cuSurfObjectGetResourceDesc(driver_resource *d, uint64_t handle) {
    return give_driver_resource(d, handle, 1);
}

EXPORT CUresult cuTexObjectGetTextureDesc(driver_texture *d, uint64_t handle) {
    struct texture *t = found(handle, 0);
    if (!d || !t)
        return INVALID_VALUE;
    const texture_description *of = &t->description;
    *d = (driver_texture){.filter = of->filter, .anisotropy = of->anisotropy, .level_filter = of->level_filter,
                          .bias = of->bias, .least = of->least, .most = of->most,
                          .flags = (of->read_mode ? 0 : AS_INTEGER) | (of->normalized ? NORMALIZED : 0) |
                                   (of->seamless ? SEAMLESS : 0) |
                                   (of->no_trilinear_optimization ? NO_TRILINEAR_OPTIMIZATION : 0)};
    memcpy(d->address_modes, of->address_modes, sizeof d->address_modes);
    memcpy(d->border, of->border, sizeof d->border);
    return SUCCESS;
}

EXPORT CUresult cuTexObjectGetResourceViewDesc(void *view, uint64_t handle) {
    (void)view, (void)handle; /* no object has a view */
    return INVALID_VALUE;
}
