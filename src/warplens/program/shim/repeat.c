/* Repeats: a launch that would do nothing new is not sent to the server, and a fill that would change nothing not done.

   Such a launch is one with the parameters of an earlier launch that wrote nothing of what it read, where all that it touched is
   as that launch left it: it would write the same again.  Its time depends on what L2 holds; the server is asked for it once
   for each state of L2. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 12, MOST_TOUCHED = 64, TIMES = 8 };

struct repeat {
    struct launch_request request;
    char *parameters;
    size_t bytes;
    struct launch_answer answer;
    struct {
        uint64_t address, version;
    } touched[MOST_TOUCHED];
    struct {
        uint64_t before, after; /* states of L2 */
        int64_t nanoseconds;
    } times[TIMES]; /* the last ones that the server was asked for */
    unsigned timed;
};

static struct repeat *table[ROOM]; /* by a hash of request and parameters; another launch replaces one */

static struct repeat **place_of(const struct launch_request *request, const char *parameters, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    const unsigned char *word = (const unsigned char *)request;
    for (size_t n = 0; n < sizeof *request; n++)
        hash = (hash ^ word[n]) * 0x100000001b3u;
    for (size_t n = 0; n < bytes; n++)
        hash = (hash ^ (unsigned char)parameters[n]) * 0x100000001b3u;
    return &table[hash % ROOM];
}

struct repeat *find_repeat(const struct launch_request *request, const char *parameters, size_t bytes) {
    struct repeat *found = *place_of(request, parameters, bytes);
    if (!found || found->bytes != bytes || memcmp(&found->request, request, sizeof *request) ||
        memcmp(found->parameters, parameters, bytes))
        return NULL;
    for (unsigned n = 0; n < found->answer.touched; n++) {
        struct block *block = block_of(found->touched[n].address, 0);
        if (!block || block->address != found->touched[n].address || block->version != found->touched[n].version)
            return NULL;
    }
    return found;
}

CUresult launch_again(struct repeat *repeat, CUstream stream) {
    uint64_t state = l2_state();
    for (unsigned n = 0; n < TIMES && n < repeat->timed; n++)
        if (repeat->times[n].before == state) {
            notify(REPEATED, repeat->answer.number, 0, 0, 0);
            set_l2_state(repeat->times[n].after);
            queue_work(stream, COMPUTE, repeat->answer.share, repeat->times[n].nanoseconds);
            return SUCCESS;
        }
    struct repeat_answer answer;
    CUresult status = ask(REPEAT, &repeat->answer.number, sizeof repeat->answer.number, NULL, 0, &answer, sizeof answer, NULL);
    if (!status) {
        unsigned n = repeat->timed++ % TIMES;
        repeat->times[n].before = state;
        repeat->times[n].after = answer.l2;
        repeat->times[n].nanoseconds = answer.nanoseconds;
        set_l2_state(answer.l2);
        queue_work(stream, COMPUTE, repeat->answer.share, answer.nanoseconds);
    }
    return status;
}

void keep_repeat(const struct launch_request *request, const char *parameters, size_t bytes,
                 const struct launch_answer *answer, const struct touched_block *touched) {
    for (unsigned n = 0; n < answer->touched; n++) {
        struct block *block = touched[n].written ? block_of(touched[n].address, 0) : NULL;
        if (block)
            mark_written(block);
    }
    if (!(answer->flags & REPEATABLE) || answer->touched > MOST_TOUCHED)
        return;
    struct repeat **place = place_of(request, parameters, bytes), *kept = *place;
    if (kept)
        free(kept->parameters);
    else
        kept = *place = calloc(1, sizeof *kept);
    kept->request = *request;
    kept->parameters = memcpy(malloc(bytes + 1), parameters, bytes);
    kept->bytes = bytes;
    kept->answer = *answer;
    kept->timed = 0;
    for (unsigned n = 0; n < answer->touched; n++) {
        struct block *block = block_of(touched[n].address, 0);
        kept->touched[n].address = touched[n].address;
        kept->touched[n].version = block ? block->version : 0;
    }
}

/* Fills of whole blocks, by their address.  Memory that the host may write without a call is left out. */

enum { LARGE = 1 << 20 }; /* bytes from which the server is told: hashing so many takes it a millisecond */

static struct fill {
    uint64_t address, size, version;
    uint32_t value;
    int element;
} fills[256];

static struct fill *fill_of(uint64_t to) {
    return &fills[(to >> 9) % (sizeof fills / sizeof *fills)];
}

int is_filled(uint64_t to, uint64_t bytes, uint32_t value, int element) {
    const struct fill *kept = fill_of(to);
    const struct block *block = block_of(to, 0);
    return block && kept->address == to && kept->size == bytes && kept->value == value && kept->element == element &&
           kept->version == block->version;
}

void keep_fill(uint64_t to, uint64_t bytes, uint32_t value, int element) {
    const struct block *block = block_of(to, 0);
    if (!block || block->kind != DEVICE_MEMORY || block->address != to || block->size != bytes)
        return;
    *fill_of(to) = (struct fill){to, bytes, block->version, value, element};
    if (bytes >= LARGE)
        notify(FILLED, element, to, bytes, value);
}
