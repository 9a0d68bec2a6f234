/* Copies and fills: done at once on the arena, and timed by the link between host and GPU. */
#include "graphs/capture.h"

#include <string.h>

static enum copy_kind kind_of(const void *to, const void *from) {
    struct block *target = block_of((uint64_t)to, 1), *source = block_of((uint64_t)from, 1);
    int to_device = target && !is_host(target), from_device = source && !is_host(source);
    return to_device ? (from_device ? DEVICE_TO_DEVICE : HOST_TO_DEVICE) : from_device ? DEVICE_TO_HOST : HOST_TO_HOST;
}

/* Managed memory is both. */
static int is_device_memory(const void *pointer) {
    struct block *block = block_of((uint64_t)pointer, 1);
    return block && (block->kind == DEVICE_MEMORY || block->kind == MODULE_MEMORY);
}

static int is_pinned(const void *pointer) {
    return block_of((uint64_t)pointer, 1) != NULL;
}

/* Between two GPUs; whose link to each other is not described: it is taken to be as fast as that to the host. */
static int between_devices(const void *to, const void *from) {
    struct block *target = block_of((uint64_t)to, 1), *source = block_of((uint64_t)from, 1);
    return target && source && target->device != source->device;
}

enum { FIRST_HOST_ADDRESS = 4096 }; /* of the page below nothing is mapped: a null pointer, or a field of one */

/* A range of the GPU must lie in one block, or in several that are mapped side by side; one outside is the host's. */
static int valid(const void *first, size_t bytes) {
    uint64_t at = (uint64_t)first, end = at + bytes;
    if (!of_device(first))
        return at >= FIRST_HOST_ADDRESS;
    while (at < end) {
        struct block *block = block_of(at, 1);
        if (!block)
            return 0;
        at = block->address + block->size;
        if (block->kind != MAPPED_MEMORY)
            break;
    }
    return at >= end;
}

static void note_written(uint64_t address, size_t bytes) {
    struct block *block;
    for (uint64_t at = address; at < address + bytes && (block = block_of(at, 1)); at = block->address + block->size) {
        mark_written(block);
        notify(WRITTEN, 0, block->address, bytes, 0);
    }
}

/* A block that has been copied as a whole to another one. */
static void note_duplicate(uint64_t to, uint64_t from, size_t bytes) {
    const struct block *target = block_of(to, bytes), *source = block_of(from, bytes);
    if (target && source && target != source && target->size == bytes && source->size == bytes)
        notify(DUPLICATED, 0, to, bytes, from);
}

static int reachable(const void *pointer) {
    return of_device(pointer) || is_pinned(pointer);
}

static size_t extent_of(size_t width, size_t height, size_t depth, size_t pitch, size_t slice) {
    return (depth - 1) * slice + (height - 1) * pitch + width;
}

/* Of memory that is not page-locked: between the sizes that were measured, and on beyond them. */
static int64_t pageable_ns(const double *ns, double bytes) {
    const double *sizes = gpu.pageable_bytes;
    int n = 1;
    while (n < SIZES - 1 && bytes > sizes[n])
        n++;
    double more = bytes > sizes[0] ? bytes - sizes[n - 1] : 0;
    return ns[n - 1] + more * (ns[n] - ns[n - 1]) / (sizes[n] - sizes[n - 1]);
}

static int64_t link_ns(enum copy_kind kind, int pinned, size_t bytes) {
    if (!pinned)
        return pageable_ns(kind == HOST_TO_DEVICE ? gpu.pageable_to_device_ns : gpu.pageable_to_host_ns, bytes);
    return gpu.copy_ns + bytes / (kind == HOST_TO_DEVICE ? gpu.to_device_rate : gpu.to_host_rate);
}

static void move(const struct rows *r) {
    int dense = r->height == 1 || (r->to_pitch == r->width && r->from_pitch == r->width);
    for (size_t z = 0; z < r->depth; z++) {
        char *to = r->to + z * r->to_slice;
        const char *from = r->from + z * r->from_slice;
        if (dense)
            memmove(to, from, r->width * r->height);
        for (size_t y = 0; y < r->height && !dense; y++)
            memmove(to + y * r->to_pitch, from + y * r->from_pitch, r->width);
    }
}

CUresult copy_rows(const struct rows *r, enum copy_kind kind, CUstream stream, int waits) {
    int captured;
    CUresult status = check_capture(stream, &captured);
    if (status || !r->width || !r->height || !r->depth)
        return status;
    if (r->height > 1 && (r->to_pitch < r->width || r->from_pitch < r->width))
        return INVALID_VALUE;
    size_t written = extent_of(r->width, r->height, r->depth, r->to_pitch, r->to_slice);
    size_t read = extent_of(r->width, r->height, r->depth, r->from_pitch, r->from_slice);
    if (!valid(r->to, written) || !valid(r->from, read))
        return INVALID_VALUE;
    enum copy_kind found = kind_of(r->to, r->from);
    int to_device = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE;
    int from_device = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
    int misused = is_device_memory(r->to) != to_device || is_device_memory(r->from) != from_device;
    if (gpu.checks && misused && kind != ANY_KIND && kind != found)
        notify(MISUSED, kind, 0, found, 0);
    if (kind != ANY_KIND && ((to_device && !reachable(r->to)) || (from_device && !reachable(r->from))))
        return INVALID_VALUE;
    if (captured) {
        struct work work = {.type = COPY_WORK, .device = current_device(), .copy = copy_of_rows(r, kind)};
        return capture_work(stream, &work);
    }
    if (kind == ANY_KIND)
        kind = found;
    uint64_t to = (uint64_t)r->to, from = (uint64_t)r->from;
    int deferred = defer_copy(to, from, written, r->height * r->depth == 1);
    if (!deferred) {
        before_access(from, read, READ);
        before_access(to, written, r->width * r->height * r->depth == written ? WRITTEN_AS_WHOLE : WRITTEN_IN_PART);
        move(r);
    }
    int pinned = is_pinned(kind == HOST_TO_DEVICE ? r->from : r->to);
    size_t bytes = r->width * r->height * r->depth;
    int peers = kind == DEVICE_TO_DEVICE && between_devices(r->to, r->from);
    int within = kind == DEVICE_TO_DEVICE && !peers;
    int64_t duration = kind == HOST_TO_HOST ? 0
                       : within             ? memory_work_ns(stream, bytes / gpu.within_rate)
                                            : link_ns(kind, pinned || peers, bytes);
    enum engine engine = kind == HOST_TO_DEVICE ? COPY_IN : kind == HOST_TO_HOST ? ANY_ENGINE : COPY_OUT;
    int pageable = !pinned && (kind == HOST_TO_DEVICE || kind == DEVICE_TO_HOST);
    int from_gpu = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
    if (kind == DEVICE_TO_DEVICE)
        notify(MOVED_FROM, 0, (uint64_t)r->from, bytes, 0);
    uint64_t on_gpu = kind == DEVICE_TO_HOST ? (uint64_t)r->from : (uint64_t)r->to;
    notify(COPIED, (uint32_t)kind | (pageable ? PAGEABLE : 0), on_gpu, bytes, duration);
    if (from_gpu)
        use_l2((uint64_t)r->from, bytes, 0);
    if (kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE)
        use_l2((uint64_t)r->to, bytes, 1);
    int64_t end = within ? queue_memory_work(stream, duration, SIZE_MAX) : queue_work(stream, engine, 0, duration);
    if (!deferred && reachable(r->to)) {
        note_written(to, written);
        note_duplicate(to, from, bytes);
    }
    if (kind == DEVICE_TO_HOST && pinned && !waits)
        guard_from_host(block_of((uint64_t)r->to, 1), end);
    if (kind != DEVICE_TO_DEVICE && (waits || !pinned)) /* the driver stages what is not page-locked, and waits for it */
        wait_until(end);
    return SUCCESS;
}

static void fill(char *to, size_t bytes, uint32_t value, int element) {
    if (element == 1 || (value & 255) * 0x01010101u == (element == 2 ? value | value << 16 : value)) {
        memset(to, value, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += element)
        memcpy(to + at, &value, element);
}

/* `width` in bytes.  A fill does not make the host wait, but of pinned memory, which this leaves out. */
CUresult fill_rows(uint64_t to, size_t pitch, size_t width, size_t height, uint32_t value, int element, CUstream stream,
                   int waits) {
    (void)waits;
    int captured;
    CUresult status = check_capture(stream, &captured);
    if (status || !width || !height)
        return status;
    if ((height > 1 && pitch < width) || to % element)
        return INVALID_VALUE;
    size_t written = extent_of(width, height, 1, pitch, 0);
    if (!block_of(to, 1) || !valid((void *)to, written))
        return INVALID_VALUE;
    if (captured) {
        struct work work = {.type = FILL_WORK, .device = current_device()};
        work.fill = (struct fill_work){to, pitch, value, element, width / element, height};
        return capture_work(stream, &work);
    }
    int repeated = height == 1 && is_filled(to, width, value, element);
    int deferred = !repeated && defer_fill(to, pitch, width, height, value, element);
    if (!repeated && !deferred) {
        before_access(to, written, width * height == written ? WRITTEN_AS_WHOLE : WRITTEN_IN_PART);
        for (size_t y = 0; y < height; y++)
            fill((char *)to + y * pitch, width, value, element);
    }
    int64_t duration = memory_work_ns(stream, width * height / gpu.fill_rate);
    notify(COPIED, 5, to, width * height, duration); /* 5: a fill */
    use_l2(to, width * height, 1);
    queue_memory_work(stream, duration, width * height);
    if (!repeated && !deferred)
        note_written(to, written);
    if (height == 1 && !repeated && !deferred)
        keep_fill(to, width, value, element);
    return SUCCESS;
}
