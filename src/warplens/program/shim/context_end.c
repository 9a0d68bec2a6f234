/* The end of a context: destroyed, or reset (cudaDeviceReset).  Graphs stay, and cannot be launched any more. */
#include "stream.h"

void end_context(CUcontext context, int device) {
    wait_until(device_end(device));
    show_printed();
    if (gpu.checks)
        settle_host_access();
    remove_textures_of(context);
    remove_events_of(context);
    remove_streams_of(context);
    unregister_memory_of(context);
    unload_modules_of(context);
    release_blocks_of(context);
    notify(CONTEXT_ENDED, device, 0, 0, 0);
}
