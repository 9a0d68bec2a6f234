/* Virtual clock: its state.  Written under the lock of calls, read by any thread without it. */
#define _GNU_SOURCE
#include "clock.h"
#include "host_clock.h"

#include <stdatomic.h>

/* Virtual minus real time, and where a call runs the real time at which it began, else 0.  An odd version: they are
   being changed. */
static _Atomic int64_t offset, begun;
static atomic_uint version;

static void change(int64_t new_offset, int64_t new_begun) {
    atomic_fetch_add(&version, 1);
    offset = new_offset;
    begun = new_begun;
    atomic_fetch_add(&version, 1);
}

int64_t clock_shift(void) {
    for (;;) {
        unsigned before = version;
        int64_t shift = offset, since = begun, real = real_ns();
        if (before % 2 == 0 && before == version)
            return since ? shift - (real - since) : shift;
    }
}

int64_t now(void) {
    return begun ? begun + offset : real_ns() + offset;
}

static int64_t taken;

void freeze_clock(void) {
    change(offset, real_ns());
}

void advance_clock(int64_t ns) {
    change(offset + ns, begun);
    taken += ns;
}

int64_t taken_by_calls(void) {
    return taken;
}

static int64_t waited;

int64_t waited_until(void) {
    return waited;
}

void wait_until(int64_t virtual_ns) {
    if (virtual_ns > waited)
        waited = virtual_ns;
    if (virtual_ns > now())
        advance_clock(virtual_ns - now());
}

void release_clock(void) {
    change(offset - (real_ns() - begun), 0);
}
