/* Memory: a table of blocks by address, and a first-fit allocator over the arena.

   Blocks stand as far apart as those of `warplens explain`, so that a program's launches have the addresses, and the
   predictions, that the same kernel has there. */
#include "device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 512, GUARD = (1 << 16) + 1536 };

static struct block *blocks; /* by rising address */
static size_t count, room;
static uint64_t used, versions, next; /* with --check, where the next block begins */

static size_t place_of(uint64_t address) { /* of the first block behind an address */
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (blocks[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct block *block_of(uint64_t address, uint64_t bytes) {
    size_t place = place_of(address);
    if (!place)
        return NULL;
    struct block *block = &blocks[place - 1];
    uint64_t offset = address - block->address;
    return offset <= block->size && bytes <= block->size - offset && offset < (block->size ? block->size : 1) ? block : NULL;
}

int in_arena(const void *pointer) {
    return (uint64_t)pointer - gpu.arena < gpu.arena_bytes;
}

uint64_t bytes_free(void) {
    return gpu.memory_bytes > used ? gpu.memory_bytes - used : 0;
}

static void insert(size_t place, struct block block) {
    if (count == room) {
        room = room ? 2 * room : 256;
        blocks = realloc(blocks, room * sizeof *blocks);
    }
    memmove(blocks + place + 1, blocks + place, (count - place) * sizeof *blocks);
    blocks[place] = block;
    blocks[place].version = ++versions;
    count++;
}

void mark_written(struct block *block) {
    block->version = ++versions;
}

static uint64_t end_of(size_t place) { /* where the next block may begin */
    uint64_t end = place ? blocks[place - 1].address + blocks[place - 1].size + GUARD : gpu.arena;
    return (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

CUresult allocate(uint64_t size, enum block_kind kind, uint64_t *address) {
    uint64_t limit = gpu.arena + gpu.allocatable_bytes;
    if (size > bytes_free())
        return OUT_OF_MEMORY;
    for (size_t place = 0; place <= count; place++) {
        uint64_t start = end_of(place), end = place < count ? blocks[place].address : limit;
        if (end > limit)
            end = limit;
        if (start < next) /* none is where a freed one was */
            start = next;
        if (start <= end && end - start >= size + GUARD) {
            if (gpu.checks)
                next = (start + size + GUARD + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            insert(place, (struct block){start, size, kind, 0});
            notify(ALLOCATED, kind, start, size, 0);
            used += size;
            *address = start;
            return SUCCESS;
        }
    }
    return OUT_OF_MEMORY;
}

CUresult release(uint64_t address, int must_be_host) {
    size_t place = place_of(address);
    struct block *block = place ? &blocks[place - 1] : NULL;
    if (!block || block->address != address || block->kind == MODULE_MEMORY)
        return INVALID_VALUE;
    if (must_be_host != (block->kind == PINNED_MEMORY))
        return INVALID_VALUE;
    uint64_t page = 4096, first = (address + page - 1) / page * page, last = (address + block->size) / page * page;
    if (first < last)
        madvise((void *)first, last - first, MADV_REMOVE);
    notify(FREED, block->kind, address, block->size, 0);
    used -= block->size;
    memmove(block, block + 1, (count - place) * sizeof *blocks);
    count--;
    return SUCCESS;
}

void add_module_memory(uint64_t address, uint64_t size) {
    if (size)
        insert(place_of(address), (struct block){address, size, MODULE_MEMORY, 0});
}

void remove_module_memory(uint64_t address) {
    size_t place = place_of(address);
    if (place && blocks[place - 1].address == address) {
        memmove(blocks + place - 1, blocks + place, (count - place) * sizeof *blocks);
        count--;
    }
}
