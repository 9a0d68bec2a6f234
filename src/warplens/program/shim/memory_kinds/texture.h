/* Texture descriptors: one row of numbers an object, as the executor reads it (core/texture_descriptor.py). */
#pragma once

#include "array.h"

enum resource { NO_RESOURCE, OF_ARRAY, OF_LINEAR, OF_ROWS };

struct texture_row {
    int64_t resource, number; /* the second is the executor's own */
    int64_t channels, bits, channel_kind;
    int64_t width, height, depth, layers;
    int64_t normalized, linear, as_float, address_modes[3];
    int64_t levels, level_linear, bias, least, most, border[4]; /* floats as words */
    struct {
        int64_t address, pitch, slice;
    } level[MOST_LEVELS];
};

enum resource_type { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINEAR, RESOURCE_PITCHED }; /* cudaResourceType */
enum { WRAP, CLAMP, MIRROR, BORDER };                                                         /* cudaTextureAddressMode */

typedef struct { /* cudaResourceDesc */
    int type;
    union {
        struct array *array;
        struct mipmapped_array *mipmapped;
        struct {
            uint64_t address;
            channel_format format;
            size_t size; /* bytes of linear memory, else the width */
            size_t height, pitch;
        } memory;
        int reserved[32];
    } of;
    unsigned flags;
} resource_description;

typedef struct { /* cudaTextureDesc */
    int address_modes[3], filter, read_mode, srgb;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int level_filter;
    float bias, least, most;
    int no_trilinear_optimization, seamless;
} texture_description;

typedef struct { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        struct array *array;
        struct mipmapped_array *mipmapped;
        struct {
            uint64_t address;
            int format;
            unsigned channels;
            size_t size, height, pitch;
        } memory;
        int reserved[32];
    } of;
    unsigned flags;
} driver_resource;

typedef struct { /* CUDA_TEXTURE_DESC */
    int address_modes[3], filter;
    unsigned flags, anisotropy;
    int level_filter;
    float bias, least, most, border[4];
    int reserved[12];
} driver_texture;

struct texture { /* of texture and surface objects; the handle is its number */
    int used, is_surface;
    CUcontext context;
    resource_description resource;
    texture_description description;
};
