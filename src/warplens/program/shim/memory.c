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
static uint64_t used[MOST_DEVICES], versions, next; /* `next`: with --check, where the next block begins */

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

int of_device(const void *pointer) {
    return (uint64_t)pointer - gpu.arena < gpu.arena_bytes || (uint64_t)pointer - RESERVED_START < RESERVED_BYTES;
}

uint64_t bytes_free(int device) {
    return gpu.memory_bytes > used[device] ? gpu.memory_bytes - used[device] : 0;
}

static int takes_device_memory(enum block_kind kind) {
    return kind != PINNED_MEMORY && kind != HOST_BACKING && kind != MODULE_MEMORY && kind < MAPPED_MEMORY;
}

int is_host(const struct block *block) {
    return block->kind == PINNED_MEMORY || block->kind == REGISTERED_MEMORY;
}

/* As the server knows it (program/arena.py). */
static enum block_kind kind_there(enum block_kind kind) {
    return kind == GRAPH_MEMORY ? DEVICE_MEMORY : kind == MAPPED_MEMORY || kind == REGISTERED_MEMORY ? PINNED_MEMORY : kind;
}

static struct block *insert(size_t place, struct block block) {
    if (count == room) {
        room = room ? 2 * room : 256;
        blocks = realloc(blocks, room * sizeof *blocks);
    }
    memmove(blocks + place + 1, blocks + place, (count - place) * sizeof *blocks);
    blocks[place] = block;
    blocks[place].version = ++versions;
    count++;
    return &blocks[place];
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
    int device = current_device();
    if (takes_device_memory(kind) && size > bytes_free(device))
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
            int is_own = kind != BACKING && kind != HOST_BACKING;
            CUcontext context = is_own ? current_context() : NULL;
            insert(place, (struct block){.address = start, .size = size, .kind = kind, .device = device, .context = context});
            if (is_own)
                notify(ALLOCATED, kind_there(kind), start, size, 0);
            if (takes_device_memory(kind))
                used[device] += size;
            *address = start;
            return SUCCESS;
        }
    }
    return OUT_OF_MEMORY;
}

static void remove_at(size_t place) {
    memmove(blocks + place, blocks + place + 1, (--count - place) * sizeof *blocks);
}

static struct block *starting_at(uint64_t address) {
    size_t place = place_of(address);
    return place && blocks[place - 1].address == address ? &blocks[place - 1] : NULL;
}

/* `more` of the notice: whether it goes with its context, and the program has not freed it. */
static void free_block(struct block *block, int is_left) {
    before_access(block->address, block->size, WRITTEN_AS_WHOLE);
    uint64_t page = 4096, first = (block->address + page - 1) / page * page, last = (block->address + block->size) / page * page;
    if (first < last)
        madvise((void *)first, last - first, MADV_REMOVE);
    notify(FREED, kind_there(block->kind), block->address, block->size, is_left);
    if (takes_device_memory(block->kind))
        used[block->device] -= block->size;
    leave_pool(block);
    remove_at(block - blocks);
}

CUresult release(uint64_t address, int must_be_host) {
    struct block *block = starting_at(address);
    if (!block || block->kind == MODULE_MEMORY || block->kind >= REGISTERED_MEMORY)
        return INVALID_VALUE;
    if (must_be_host != (block->kind == PINNED_MEMORY))
        return INVALID_VALUE;
    if (block->kind != GRAPH_MEMORY) /* which keeps its address: the graph may be launched again */
        free_block(block, 0);
    return SUCCESS;
}

void release_backing(uint64_t address) {
    free_block(starting_at(address), 0);
}

void release_blocks_of(CUcontext context) {
    for (size_t place = count; place--;)
        if (blocks[place].context == context)
            free_block(&blocks[place], 1);
}

/* A block whose content lies elsewhere in the arena, where the program has mapped it from. */
struct block *add_mapped(struct block block, uint64_t content) {
    notify(MAPPED, kind_there(block.kind), block.address, block.size, content);
    return insert(place_of(block.address), block);
}

void remove_mapped(uint64_t address) {
    struct block *block = starting_at(address);
    notify(FREED, kind_there(block->kind), address, block->size, 0);
    remove_at(block - blocks);
}

/* The next block from an address on, NULL behind the last: for those that overlap a range. */
struct block *block_from(uint64_t address) {
    size_t place = place_of(address);
    if (place && blocks[place - 1].address + blocks[place - 1].size > address)
        place--;
    return place < count ? &blocks[place] : NULL;
}

void add_module_memory(uint64_t address, uint64_t size) {
    if (size)
        insert(place_of(address),
               (struct block){.address = address, .size = size, .kind = MODULE_MEMORY, .device = current_device()});
}

void remove_module_memory(uint64_t address) {
    struct block *block = starting_at(address);
    if (block)
        remove_at(block - blocks);
}
