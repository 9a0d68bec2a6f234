/* Arrays: rows of elements in the GPU's memory, in order (on a GPU they are swizzled, which nobody can see). */
#pragma once

#include "cuda_types.h"

struct array {
    uint64_t address;
    size_t element, pitch; /* bytes of an element, and of a row */
    size_t rows, layers;   /* at least 1 */
    extent size;           /* as asked for: 0 where a dimension is not there */
    channel_format format;
    int driver_format, channels; /* CUarray_format; how many */
    unsigned flags;
    int is_level; /* of a mipmapped array, which has its memory */
};

enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBEMAP = 4, ARRAY_GATHER = 8 };
enum { MOST_LEVELS = 16 };

struct mipmapped_array {
    struct array levels[MOST_LEVELS];
    int count;
};

/* Fills all but the address. */
CUresult describe_array(struct array *array, int driver_format, int channels, extent size, unsigned flags);
int channel_count(const channel_format *format);
int driver_format(const channel_format *format); /* 0: none of those provided */
channel_format format_of_driver(int number, int channels); /* kind -1: likewise */
