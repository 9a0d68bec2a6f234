/* Runtime API: what its files share.  Its functions are the driver's, with initialization and the last error. */
#pragma once

#include "device.h"

/* A function of the runtime API that is one of the driver API. */
#define RUNTIME(call) (start_runtime(), keep_error(call))

CUresult function_of(const void *host, struct function **function);
CUresult symbol_of(const void *host, uint64_t *address, uint64_t *size);
void place_managed_variables(void);
