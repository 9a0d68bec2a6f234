/* Deferred work: results of launches that repeat others, which the server makes when somebody looks (deferred_work.py).

   While there are any, memory is not accessed here before the server was asked, and fills and copies within the GPU are
   deferred, too. */
#include "device.h"

static int is_deferred;

void set_deferred(int flags) {
    is_deferred = flags != 0;
}

static int ask_for(enum operation operation, const void *request, size_t bytes) {
    struct defer_answer answer = {0, 0};
    ask(operation, request, bytes, NULL, 0, &answer, sizeof answer, NULL);
    set_deferred(answer.flags & DEFERRED);
    return answer.done;
}

static struct block *own_block(uint64_t address, size_t bytes) { /* that the server may have deferred work for */
    struct block *block = block_of(address, bytes);
    return block && (block->kind == DEVICE_MEMORY || block->kind == MODULE_MEMORY || block->kind == GRAPH_MEMORY) ? block : NULL;
}

void before_access(uint64_t address, size_t bytes, enum access access) {
    struct block *block = is_deferred ? own_block(address, 1) : NULL;
    if (!block)
        return;
    int is_whole = access == WRITTEN_AS_WHOLE && address == block->address && bytes == block->size;
    struct access_request request = {block->address, access == READ || is_whole ? access : WRITTEN_IN_PART, 0};
    ask_for(ACCESS, &request, sizeof request);
}

int defer_copy(uint64_t to, uint64_t from, size_t bytes, int is_dense) {
    struct block *target = is_deferred && is_dense ? own_block(to, bytes) : NULL;
    struct block *source = target ? own_block(from, bytes) : NULL;
    if (!source)
        return 0;
    struct defer_request request = {target->address, to, source->address, from, bytes, bytes, 1, 0, 0};
    int done = ask_for(DEFER, &request, sizeof request);
    if (done)
        mark_written(target);
    return done;
}

int defer_fill(uint64_t to, size_t pitch, size_t width, size_t height, uint32_t value, int element) {
    struct block *target = is_deferred ? own_block(to, (height - 1) * pitch + width) : NULL;
    if (!target)
        return 0;
    struct defer_request request = {target->address, to, 0, 0, pitch, width, height, value, element};
    int done = ask_for(DEFER, &request, sizeof request);
    if (done)
        mark_written(target);
    return done;
}
