/* Loading: the time that the host takes where code is used for the first time (docs/mechanisms/first_launches.md).

   Measured: measurements/h200/first_launches.csv, medians; each is what comes on top of LAUNCH_NS. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_LAUNCH_NS = 23600,       /* the first launch in a context: 25.3 us eagerly, less that of each kernel */
    FIRST_KERNEL_LAUNCH_NS = 1700, /* the first launch of each kernel, loaded eagerly */
    LOAD_KERNEL_NS = 9400,         /* a kernel of a loaded module: 11.1 us, less its first launch */
    LOAD_MODULE_NS = 75900,        /* the first kernel of a further module: 87.0 us, less one of a loaded module */
    FIRST_LOAD_NS = 53400          /* the first launch of a program: 164.0 us, less its parts above */
};

/* CUDA_MODULE_LOADING: eagerly, what is registered before main() has been loaded with the context, at no time here. */
int loads_lazily(void) {
    static int known, lazy;
    const char *mode = known ? NULL : getenv("CUDA_MODULE_LOADING");
    if (!known)
        lazy = !mode || strcmp(mode, "EAGER");
    known = 1;
    return lazy;
}

void take_module_load_time(const struct module *module) {
    if (loads_lazily() && is_first_in_context(FIRST_LOAD))
        advance_clock(FIRST_LOAD_NS);
    if (loads_lazily() || module->by_call)
        advance_clock(LOAD_MODULE_NS);
}

void take_kernel_load_time(void) {
    if (loads_lazily())
        advance_clock(LOAD_KERNEL_NS);
}

void take_launch_time(struct function *function) {
    int64_t first = is_first_in_context(FIRST_LAUNCH) ? FIRST_LAUNCH_NS : 0;
    if (!function->launched)
        first += FIRST_KERNEL_LAUNCH_NS;
    function->launched = 1;
    advance_clock(LAUNCH_NS + first);
}
