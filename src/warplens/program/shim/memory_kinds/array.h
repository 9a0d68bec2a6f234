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
};
