/* Host access: with --check, finds a host that touches memory which the GPU may still be writing.

   Pages of managed and page-locked blocks that queued work writes are protected until the program has waited for that
   work.  Blocks lie 64 KiB apart, so no page belongs to two of them. */
#define _GNU_SOURCE
#include "device.h"

#include <signal.h>
#include <sys/mman.h>

enum { MOST_GUARDED = 256, PAGE = 4096 };

static struct guarded {
    uint64_t block, first, bytes;
    int64_t end;      /* of the work that writes it */
    int opened, seen; /* the host has touched it; outside of CUDA's calls */
} guarded[MOST_GUARDED];
static int count;
static struct sigaction before;

static void open_pages(struct guarded *g) {
    mprotect((void *)g->first, g->bytes, PROT_READ | PROT_WRITE);
    g->opened = 1;
}

static void on_access(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    for (int n = 0; n < count; n++)
        if ((uint64_t)info->si_addr - guarded[n].first < guarded[n].bytes) {
            open_pages(&guarded[n]);
            guarded[n].seen |= !in_call();
            return;
        }
    sigaction(SIGSEGV, &before, NULL); /* not here: it happens again, as without us */
}

void guard_from_host(struct block *block, int64_t end) {
    if (!gpu.checks || (block->kind != MANAGED_MEMORY && block->kind != PINNED_MEMORY))
        return;
    if (!before.sa_sigaction && !before.sa_handler) {
        struct sigaction action = {.sa_sigaction = on_access, .sa_flags = SA_SIGINFO};
        sigaction(SIGSEGV, &action, &before);
    }
    struct guarded *g = guarded;
    while (g < guarded + count && g->block != block->address)
        g++;
    if (g == guarded + MOST_GUARDED)
        return;
    count += g == guarded + count;
    uint64_t first = block->address / PAGE * PAGE, last = (block->address + block->size + PAGE - 1) / PAGE * PAGE;
    *g = (struct guarded){block->address, first, last - first, end, 0, g->seen && g->block == block->address};
    mprotect((void *)first, last - first, PROT_NONE);
}

/* At the end of a call: reports what was seen, and opens what the program has waited for. */
void settle_host_access(void) {
    for (int n = 0; n < count; n++) {
        struct guarded *g = &guarded[n];
        if (g->seen)
            notify(UNSYNCHRONIZED, 0, g->block, 0, 0);
        g->seen = 0;
        if (g->end > waited_until() && !g->opened && block_of(g->block, 0))
            continue;
        if (!g->opened)
            open_pages(g);
        *g = guarded[--count];
        n--;
    }
}
