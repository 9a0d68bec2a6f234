/* Registered memory of the host: its pages are replaced by pages of the arena with the same content, at the same
   addresses, so that kernels see what the host sees.

   Ranges that share a page belong to one region, which is made anew when one joins it. */
#define _GNU_SOURCE
#include "graphs/capture.h"

#include "runtime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, KNOWN_FLAGS = 1 | 2 | 4 | 8 };

struct region {
    uint64_t first, end; /* whole pages */
    uint64_t backing, content;
    int ranges;
    struct region *next;
};

static struct region *regions;

/* Puts pages of `to` in place of the host's, with their content; `file` -1: memory of the host's own again. */
static int replace_pages(uint64_t first, uint64_t end, uint64_t to) {
    size_t bytes = end - first;
    char *kept = NULL;
    int kind = to ? MAP_SHARED | MAP_NORESERVE : MAP_PRIVATE | MAP_ANONYMOUS;
    if (to) {
        memcpy((void *)to, (void *)first, bytes);
    } else {
        kept = memcpy(malloc(bytes), (void *)first, bytes);
    }
    void *made = mmap((void *)first, bytes, PROT_READ | PROT_WRITE, kind | MAP_FIXED, to ? arena_file() : -1,
                      to ? to - gpu.arena : 0);
    if (kept && made != MAP_FAILED)
        memcpy((void *)first, kept, bytes);
    free(kept);
    return made != MAP_FAILED;
}

static void put_again(const struct region *region, uint64_t first, uint64_t end) {
    struct block *block;
    for (uint64_t at = first; (block = block_from(at)) && block->address < end; at = block->address + block->size)
        if (block->kind == REGISTERED_MEMORY)
            notify(MAPPED, PINNED_MEMORY, block->address, block->size, region->content + block->address - region->first);
}

static CUresult enroll(uint64_t address, size_t size) {
    struct block *there = block_from(address);
    if (!address || !size || of_device((void *)address))
        return INVALID_VALUE;
    if (there && there->address < address + size)
        return HOST_MEMORY_ALREADY_REGISTERED;
    struct region made = {address / PAGE * PAGE, (address + size + PAGE - 1) / PAGE * PAGE, 0, 0, 1, NULL};
    for (struct region *r = regions; r; r = r->next)
        if (r->first < made.end && made.first < r->end) {
            made.first = r->first < made.first ? r->first : made.first;
            made.end = r->end > made.end ? r->end : made.end;
        }
    CUresult status = allocate(made.end - made.first + PAGE, HOST_BACKING, &made.backing);
    if (status)
        return status;
    made.content = (made.backing + PAGE - 1) / PAGE * PAGE;
    if (!replace_pages(made.first, made.end, made.content)) {
        release_backing(made.backing);
        return OUT_OF_MEMORY;
    }
    for (struct region **at = &regions; *at;) { /* those that it takes in */
        struct region *r = *at;
        if (r->first < made.end && made.first < r->end) {
            made.ranges += r->ranges;
            release_backing(r->backing);
            *at = r->next;
            free(r);
        } else {
            at = &r->next;
        }
    }
    struct region *kept = memcpy(malloc(sizeof made), &made, sizeof made);
    kept->next = regions;
    regions = kept;
    put_again(kept, made.first, made.end);
    struct block block = {.address = address, .size = size, .kind = REGISTERED_MEMORY, .device = current_device(),
                          .context = current_context()};
    add_mapped(block, made.content + address - made.first);
    return SUCCESS;
}

static CUresult withdraw(uint64_t address) {
    struct block *block = block_of(address, 0);
    if (!block || block->address != address || block->kind != REGISTERED_MEMORY)
        return HOST_MEMORY_NOT_REGISTERED;
    remove_mapped(address);
    struct region **at = &regions;
    while (address < (*at)->first || address >= (*at)->end)
        at = &(*at)->next;
    struct region *region = *at;
    if (--region->ranges)
        return SUCCESS;
    replace_pages(region->first, region->end, 0);
    release_backing(region->backing);
    *at = region->next;
    free(region);
    return SUCCESS;
}

void unregister_memory_of(CUcontext context) {
    struct block *block;
    for (uint64_t at = 0; (block = block_from(at));) {
        at = block->address + block->size;
        if (block->kind == REGISTERED_MEMORY && block->context == context)
            withdraw(block->address);
    }
}

EXPORT CUresult cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = forbid_in_capture();
    if (!status && flags & ~KNOWN_FLAGS)
        status = INVALID_VALUE;
    if (!status && flags & 4) /* input and output of other devices */
        status = NOT_SUPPORTED;
    return finish(status ? status : enroll((uint64_t)pointer, size), ALLOCATE_NS);
}

EXPORT CUresult cuMemHostUnregister(void *pointer) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = forbid_in_capture();
    if (!status)
        wait_until(device_end(current_device()));
    return finish(status ? status : withdraw((uint64_t)pointer), ALLOCATE_NS);
}

EXPORT CUresult cudaHostRegister(void *pointer, size_t size, unsigned flags) {
    return RUNTIME(cuMemHostRegister_v2(pointer, size, flags));
}

EXPORT CUresult cudaHostUnregister(void *pointer) {
    return RUNTIME(cuMemHostUnregister(pointer));
}
