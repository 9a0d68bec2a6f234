/* L2 state: a number for what L2 holds, so that the time of a launch that repeats another is known without the server.

   The server numbers the contents that launches leave.  A copy or fill makes another number of that, the same each time;
   what the contents are then, the server knows when it is next asked. */
#include "device.h"

static uint64_t state;

uint64_t l2_state(void) {
    return state;
}

void set_l2_state(uint64_t new_state) {
    state = new_state;
}

void use_l2(uint64_t address, uint64_t bytes, int written) {
    const uint64_t words[] = {address, bytes, written};
    for (int n = 0; n < 3; n++)
        state = (state ^ words[n]) * 0x100000001b3u; /* FNV-1a */
    state |= 1ull << 63; /* those of the server are below */
}
