/* Memory pools, and allocations in the order of a stream.

   Memory that is freed to a pool can be had again at once: work is executed when it is queued. */
#include "graphs/capture.h"

#include "driver.h"

#include <stdlib.h>
#include <string.h>

enum { REUSE_FIRST = 1, REUSE_LAST = 3, THRESHOLD, RESERVED_NOW, RESERVED_MOST, USED_NOW, USED_MOST }; /* cudaMemPoolAttr */

struct pool {
    pool_properties properties;
    int reuse[REUSE_LAST + 1];
    uint64_t threshold, used, most_used, most_reserved;
    int is_default, access[MOST_DEVICES];
};

static struct pool *defaults[MOST_DEVICES], *current_pools[MOST_DEVICES];

static struct pool *new_pool(const pool_properties *properties) {
    struct pool *made = calloc(1, sizeof *made);
    made->properties = *properties;
    for (int n = REUSE_FIRST; n <= REUSE_LAST; n++)
        made->reuse[n] = 1;
    made->access[properties->location.id] = 3;
    return made;
}

struct pool *default_pool(int device) {
    if (!defaults[device]) {
        pool_properties properties = {.kind = 1, .location = {1, device}};
        defaults[device] = current_pools[device] = new_pool(&properties);
        defaults[device]->is_default = 1;
    }
    return defaults[device];
}

static struct pool *current_pool(int device) {
    default_pool(device);
    return current_pools[device];
}

void forget_pools(int device) { /* descriptions of others stay: the program may have their handles */
    defaults[device] = current_pools[device] = NULL;
}

/* What the pool keeps: nothing beyond the threshold, as if the program had just waited for the GPU. */
static uint64_t reserved(const struct pool *pool) {
    uint64_t kept = pool->most_reserved < pool->threshold ? pool->most_reserved : pool->threshold;
    return kept > pool->used ? kept : pool->used;
}

void leave_pool(struct block *block) {
    if (block->pool)
        block->pool->used -= block->size;
}

static CUresult take(struct pool *pool, uint64_t *address, size_t size, CUstream stream) {
    int captured;
    CUresult status = check_capture(stream, &captured);
    if (!status && !(address && pool))
        status = INVALID_VALUE;
    if (!status && !size) {
        *address = 0;
        return SUCCESS;
    }
    if (!status && pool->properties.most && pool->used + size > pool->properties.most)
        status = OUT_OF_MEMORY;
    if (!status)
        status = allocate(size, captured ? GRAPH_MEMORY : DEVICE_MEMORY, address);
    if (status)
        return status;
    if (captured) {
        struct work work = {.type = ALLOCATE_WORK, .device = current_device(), .memory = {*address, size}};
        return capture_work(stream, &work);
    }
    block_of(*address, 0)->pool = pool;
    pool->used += size;
    if (pool->used > pool->most_used)
        pool->most_used = pool->used;
    if (pool->used > pool->most_reserved)
        pool->most_reserved = pool->used;
    return SUCCESS;
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream) {
    CUresult status = begin_in(stream);
    return finish(status ? status : take(current_pool(current_device()), address, size, stream), EVENT_NS);
}

EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, struct pool *pool, CUstream stream) {
    CUresult status = begin_in(stream);
    return finish(status ? status : take(pool, address, size, stream), EVENT_NS);
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    CUresult status = begin_in(stream);
    int captured = 0;
    if (!status)
        status = check_capture(stream, &captured);
    struct block *block = status ? NULL : block_of(address, 0);
    if (!status && captured && block && block->kind == GRAPH_MEMORY) {
        struct work work = {.type = FREE_WORK, .device = current_device(), .memory = {address, block->size}};
        status = capture_work(stream, &work);
    } else if (!status && address) {
        status = captured ? INVALID_VALUE : release(address, 0);
    }
    return finish(status, EVENT_NS);
}

EXPORT CUresult cuMemPoolCreate(struct pool **pool, const pool_properties *properties) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(pool && properties && properties->kind == 1 && properties->location.type == 1))
        status = INVALID_VALUE;
    if (!status && (properties->location.id < 0 || properties->location.id >= gpu.devices))
        status = INVALID_DEVICE;
    if (!status && properties->handle_types)
        status = refuse("pools that processes share (cuMemPoolCreate)");
    if (!status)
        *pool = new_pool(properties);
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuMemPoolDestroy(struct pool *pool) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(pool && !pool->is_default))
        status = INVALID_VALUE;
    if (!status) { /* its memory lives until it is freed, so the description stays */
        int device = pool->properties.location.id;
        if (current_pool(device) == pool)
            current_pools[device] = defaults[device];
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemPoolTrimTo(struct pool *pool, size_t keep) {
    CUresult status = begin(INITIALIZED);
    if (!status && !pool)
        status = INVALID_VALUE;
    if (!status && pool->most_reserved > keep)
        pool->most_reserved = keep;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemPoolSetAttribute(struct pool *pool, int attribute, const void *value) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(pool && value))
        status = INVALID_VALUE;
    if (!status && attribute >= REUSE_FIRST && attribute <= REUSE_LAST)
        pool->reuse[attribute] = *(const int *)value;
    else if (!status && attribute == THRESHOLD)
        pool->threshold = *(const uint64_t *)value;
    else if (!status && attribute == RESERVED_MOST && !*(const uint64_t *)value)
        pool->most_reserved = reserved(pool);
    else if (!status && attribute == USED_MOST && !*(const uint64_t *)value)
        pool->most_used = pool->used;
    else if (!status)
        status = INVALID_VALUE;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemPoolGetAttribute(struct pool *pool, int attribute, void *value) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(pool && value && attribute >= REUSE_FIRST && attribute <= USED_MOST))
        status = INVALID_VALUE;
    if (!status && attribute <= REUSE_LAST) {
        *(int *)value = pool->reuse[attribute];
    } else if (!status) {
        uint64_t values[] = {pool->threshold, reserved(pool), pool->most_reserved, pool->used, pool->most_used};
        *(uint64_t *)value = values[attribute - THRESHOLD];
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemPoolSetAccess(struct pool *pool, const memory_access *accesses, size_t count) {
    CUresult status = begin(INITIALIZED);
    for (size_t n = 0; n < count && !status; n++) {
        int device = accesses[n].location.id;
        if (!pool || accesses[n].location.type != 1 || device < 0 || device >= gpu.devices)
            status = INVALID_VALUE;
        else
            pool->access[device] = accesses[n].access;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemPoolGetAccess(int *access, struct pool *pool, const memory_location *location) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(access && pool && location && location->id >= 0 && location->id < gpu.devices))
        status = INVALID_VALUE;
    if (!status)
        *access = pool->access[location->id];
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceSetMemPool(CUdevice device, struct pool *pool) {
    CUresult status = begin_on(device);
    if (!status && !(pool && pool->properties.location.id == device))
        status = INVALID_VALUE;
    if (!status) {
        default_pool(device);
        current_pools[device] = pool;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetMemPool(struct pool **pool, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        *pool = current_pool(device);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetDefaultMemPool(struct pool **pool, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        *pool = default_pool(device);
    return finish(status, CALL_NS);
}
