/* Tensor maps: the server makes the 128 bytes (core/tensor_map.py), as the driver lays them out. */
#include "device.h"
#include "protocol.h"

#include <string.h>

enum { MOST_AXES = 5, MAP_BYTES = 128, MAP_ALIGNMENT = 64 };

typedef struct {
    uint64_t words[MAP_BYTES / 8];
} tensor_map; /* CUtensorMap */

struct tensor_map_request { /* im2col: whether corners, channels and pixels count, and not the box */
    uint64_t address, sizes[MOST_AXES], strides[MOST_AXES - 1];
    uint32_t type, rank, box[MOST_AXES], steps[MOST_AXES], interleave, swizzle, promotion, fill;
    int32_t im2col, lower[MOST_AXES - 2], upper[MOST_AXES - 2];
    uint32_t channels, pixels, padding;
};

static CUresult encode(tensor_map *map, struct tensor_map_request *request, const uint64_t *sizes,
                       const uint64_t *strides, const uint32_t *steps) {
    uint32_t rank = request->rank;
    CUresult status = begin(NOTHING);
    if (!status && (!map || (uintptr_t)map % MAP_ALIGNMENT || !rank || rank > MOST_AXES || !sizes || !steps || (rank > 1 && !strides)))
        status = INVALID_VALUE;
    if (!status) {
        memcpy(request->sizes, sizes, rank * sizeof *sizes);
        memcpy(request->steps, steps, rank * sizeof *steps);
        if (rank > 1)
            memcpy(request->strides, strides, (rank - 1) * sizeof *strides);
        status = ask(TENSOR_MAP, request, sizeof *request, NULL, 0, map, sizeof *map, NULL);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuTensorMapEncodeTiled(tensor_map *map, uint32_t type, uint32_t rank, void *address,
                                       const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                       const uint32_t *steps, uint32_t interleave, uint32_t swizzle,
                                       uint32_t promotion, uint32_t fill) {
    struct tensor_map_request request = {.address = (uint64_t)address, .type = type, .rank = rank,
        .interleave = interleave, .swizzle = swizzle, .promotion = promotion, .fill = fill};
    if (!box)
        return INVALID_VALUE;
    if (rank <= MOST_AXES)
        memcpy(request.box, box, rank * sizeof *box);
    return encode(map, &request, sizes, strides, steps);
}

EXPORT CUresult cuTensorMapEncodeIm2col(tensor_map *map, uint32_t type, uint32_t rank, void *address,
                                        const uint64_t *sizes, const uint64_t *strides, const int *lower,
                                        const int *upper, uint32_t channels, uint32_t pixels, const uint32_t *steps,
                                        uint32_t interleave, uint32_t swizzle, uint32_t promotion, uint32_t fill) {
    struct tensor_map_request request = {.address = (uint64_t)address, .type = type, .rank = rank,
        .interleave = interleave, .swizzle = swizzle, .promotion = promotion, .fill = fill, .im2col = 1,
        .channels = channels, .pixels = pixels};
    if (!lower || !upper || rank < 3 || rank > MOST_AXES)
        return INVALID_VALUE;
    memcpy(request.lower, lower, (rank - 2) * sizeof *lower);
    memcpy(request.upper, upper, (rank - 2) * sizeof *upper);
    return encode(map, &request, sizes, strides, steps);
}

EXPORT CUresult cuTensorMapReplaceAddress(tensor_map *map, void *address) {
    if (!map || (uintptr_t)map % MAP_ALIGNMENT || (uintptr_t)address % 16)
        return INVALID_VALUE;
    map->words[0] = (uint64_t)address;
    return SUCCESS;
}
