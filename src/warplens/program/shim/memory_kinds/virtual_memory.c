/* Virtual memory of the driver API: physical memory in the arena, mapped to addresses that the program reserves. */
#define _GNU_SOURCE
#include "driver.h"

#include "device.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { UNIT = 2 << 20 }; /* of sizes and addresses */

typedef struct { /* CUmemAllocationProp */
    int kind, handle_types;
    memory_location location;
    void *security;
    struct {
        unsigned char compression, rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
} physical_properties;

struct physical {
    uint64_t content, size;
    physical_properties properties;
    int released, maps;
    struct physical *next;
};

struct mapping {
    uint64_t address;
    struct physical *physical;
    int access;
    struct mapping *next;
};

struct reservation {
    uint64_t address, size;
    struct reservation *next;
};

static struct physical *physicals;
static struct mapping *mappings;
static struct reservation *reservations;

static struct physical *found_physical(uint64_t handle) {
    for (struct physical *p = physicals; p; p = p->next)
        if ((uint64_t)p == handle)
            return p;
    return NULL;
}

static int reserved(uint64_t address, size_t size) {
    for (struct reservation *r = reservations; r; r = r->next)
        if (address >= r->address && address + size <= r->address + r->size)
            return 1;
    return 0;
}

static void drop_if_unused(struct physical *physical) {
    if (!physical->released || physical->maps)
        return;
    struct physical **at = &physicals;
    while (*at != physical)
        at = &(*at)->next;
    *at = physical->next;
    release_backing(physical->content);
    free(physical);
}

EXPORT CUresult cuMemGetAllocationGranularity(size_t *size, const physical_properties *properties, int recommended) {
    (void)recommended;
    CUresult status = begin(INITIALIZED);
    if (!status && !(size && properties))
        status = INVALID_VALUE;
    if (!status)
        *size = UNIT;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr wish, uint64_t flags) {
    static uint64_t top;
    (void)wish; /* a hint */
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && (!address || !size || size % UNIT || flags || (alignment & (alignment - 1))))
        status = INVALID_VALUE;
    uint64_t unit = alignment > UNIT ? alignment : UNIT, start = (RESERVED_START + top + unit - 1) / unit * unit;
    if (!status && start + size > RESERVED_START + RESERVED_BYTES)
        status = OUT_OF_MEMORY;
    if (!status) {
        struct reservation *made = calloc(1, sizeof *made);
        *made = (struct reservation){start, size, reservations};
        reservations = made;
        top = start + size - RESERVED_START;
        *address = start;
    }
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct reservation **at = &reservations;
    while (*at && !((*at)->address == address && (*at)->size == size))
        at = &(*at)->next;
    if (!status && !*at)
        status = INVALID_VALUE;
    if (!status) {
        struct reservation *gone = *at;
        *at = gone->next;
        free(gone);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemCreate(uint64_t *handle, size_t size, const physical_properties *p, uint64_t flags) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && (!handle || !p || !size || size % UNIT || flags || p->kind != 1))
        status = INVALID_VALUE;
    if (!status && p->location.type == 1 && (p->location.id < 0 || p->location.id >= gpu.devices))
        status = INVALID_DEVICE;
    if (!status && p->handle_types)
        status = refuse("memory that processes share (cuMemCreate)");
    if (!status && p->location.type != 1)
        status = refuse("physical memory of the host (cuMemCreate)");
    uint64_t content;
    if (!status)
        status = allocate(size + UNIT, BACKING, &content); /* pages of it are mapped: its start may lie within one */
    if (!status) {
        struct physical *made = calloc(1, sizeof *made);
        *made = (struct physical){content, size, *p, 0, 0, physicals};
        physicals = made;
        *handle = (uint64_t)made;
    }
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuMemRelease(uint64_t handle) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct physical *physical = found_physical(handle);
    if (!status && !(physical && !physical->released))
        status = INVALID_VALUE;
    if (!status) {
        physical->released = 1;
        drop_if_unused(physical);
    }
    return finish(status, CALL_NS);
}

static uint64_t pages_of(const struct physical *physical) {
    return (physical->content + UNIT - 1) / UNIT * UNIT;
}

EXPORT CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct physical *physical = status ? NULL : found_physical(handle);
    if (!status && (!physical || physical->released || flags || offset || size != physical->size || address % UNIT ||
                    !reserved(address, size)))
        status = INVALID_VALUE;
    struct block *there = status ? NULL : block_from(address);
    if (!status && there && there->address < address + size)
        status = INVALID_VALUE; /* mapped already */
    uint64_t content = status ? 0 : pages_of(physical);
    if (!status && mmap((void *)address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, arena_file(),
                        content - gpu.arena) == MAP_FAILED)
        status = OUT_OF_MEMORY;
    if (!status) {
        struct mapping *made = calloc(1, sizeof *made);
        *made = (struct mapping){address, physical, 0, mappings};
        mappings = made;
        physical->maps++;
        int device = physical->properties.location.id;
        add_mapped((struct block){.address = address, .size = size, .kind = MAPPED_MEMORY, .device = device}, content);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    size_t found = 0;
    for (struct mapping *m = status ? NULL : mappings; m; m = m->next)
        if (m->address >= address && m->address + m->physical->size <= address + size)
            found += m->physical->size;
    if (!status && (!size || found != size))
        status = INVALID_VALUE;
    struct mapping **at = &mappings;
    while (!status && *at) {
        struct mapping *m = *at;
        if (m->address < address || m->address >= address + size) {
            at = &m->next;
            continue;
        }
        munmap((void *)m->address, m->physical->size);
        remove_mapped(m->address);
        m->physical->maps--;
        drop_if_unused(m->physical);
        *at = m->next;
        free(m);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const memory_access *accesses, size_t count) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    size_t found = 0;
    for (struct mapping *m = status || !accesses ? NULL : mappings; m; m = m->next)
        if (m->address >= address && m->address < address + size) {
            found += m->physical->size;
            for (size_t n = 0; n < count; n++)
                m->access = accesses[n].access;
        }
    return finish(status ? status : found == size && size ? SUCCESS : INVALID_VALUE, CALL_NS);
}

static struct mapping *mapping_at(uint64_t address) {
    for (struct mapping *m = mappings; m; m = m->next)
        if (address - m->address < m->physical->size)
            return m;
    return NULL;
}

EXPORT CUresult cuMemGetAccess(unsigned long long *access, const memory_location *location, CUdeviceptr address) {
    CUresult status = begin(CONTEXT);
    struct mapping *mapping = status || !location || !access ? NULL : mapping_at(address);
    if (!status && !mapping)
        status = INVALID_VALUE;
    if (!status)
        *access = mapping->access;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemRetainAllocationHandle(uint64_t *handle, void *address) {
    CUresult status = begin(CONTEXT);
    struct mapping *mapping = status || !handle ? NULL : mapping_at((uint64_t)address);
    if (!status && !mapping)
        status = INVALID_VALUE;
    if (!status)
        *handle = (uint64_t)mapping->physical;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(physical_properties *properties, uint64_t handle) {
    CUresult status = begin(CONTEXT);
    struct physical *physical = status ? NULL : found_physical(handle);
    if (!status && !(physical && properties))
        status = INVALID_VALUE;
    if (!status)
        *properties = physical->properties;
    return finish(status, CALL_NS);
}
