/* Contexts of the driver API.  All contexts of a device share its memory. */
#define _GNU_SOURCE
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 13000, MOST_PUSHED = 16 };

enum { STACK = 0, HEAP = 2, LIMITS = 16 }; /* CUlimit */

struct context {
    unsigned flags;
    int live, device;
    unsigned long long peers; /* devices whose memory it may access, a bit each */
};

static struct context primary[MOST_DEVICES];
static int retained[MOST_DEVICES];
static __thread struct context *stack[MOST_PUSHED]; /* of this thread; the last is current */
static __thread int pushed;
static size_t limits[LIMITS] = {1024, 1 << 20, 8 << 20}; /* stack, printf, heap of malloc: the driver's defaults */

static struct context *current(void) {
    return pushed ? stack[pushed - 1] : NULL;
}

int current_device(void) {
    return pushed ? current()->device : 0;
}

EXPORT CUresult cuDriverGetVersion(int *version) {
    if (!version)
        return INVALID_VALUE;
    *version = VERSION;
    return SUCCESS;
}

/* Primary context */

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status) {
        retained[device]++;
        primary[device].live = 1;
        primary[device].device = device;
        *context = &primary[device];
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CUresult status = begin_on(device);
    if (!status && !retained[device])
        status = INVALID_CONTEXT;
    if (!status)
        retained[device]--;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    return finish(begin_on(device), CALL_NS);
}

EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    CUresult status = begin_on(device);
    if (!status)
        primary[device].flags = flags;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    CUresult status = begin_on(device);
    if (!status) {
        *flags = primary[device].flags;
        *active = retained[device] > 0;
    }
    return finish(status, CALL_NS);
}

/* Contexts */

EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status && pushed == MOST_PUSHED)
        status = OUT_OF_MEMORY;
    if (!status) {
        struct context *made = calloc(1, sizeof *made);
        *made = (struct context){flags, 1, device, 0};
        *context = stack[pushed++] = made;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned flags, CUdevice device) {
    (void)parameters; /* of execution affinity, and of captures by other graphics APIs */
    return cuCtxCreate_v2(context, flags, device);
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
    CUresult status = begin(INITIALIZED);
    if (!status && !context)
        status = INVALID_CONTEXT;
    if (!status) {
        if (current() == context)
            pushed--;
        context->live = 0; /* other threads may have it current; its memory stays */
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context) { /* begin() calls it: it takes no lock */
    *context = current();
    return SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    CUresult status = begin(INITIALIZED);
    if (!status) {
        if (!context)
            pushed -= pushed > 0;
        else if (pushed)
            stack[pushed - 1] = context;
        else
            stack[pushed++] = context;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
    CUresult status = begin(INITIALIZED);
    if (!status && (!context || pushed == MOST_PUSHED))
        status = INVALID_CONTEXT;
    if (!status)
        stack[pushed++] = context;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    CUresult status = begin(CONTEXT);
    if (!status) {
        pushed--;
        if (context)
            *context = stack[pushed];
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    CUresult status = begin(CONTEXT);
    if (!status)
        *device = current_device();
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxGetFlags(unsigned *flags) {
    CUresult status = begin(CONTEXT);
    if (!status)
        *flags = current()->flags;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
    (void)context;
    CUresult status = begin(INITIALIZED);
    if (!status)
        *version = VERSION;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
    CUresult status = begin(CONTEXT);
    if (!status)
        *id = (unsigned long long)(context ? context : current());
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxGetLimit(size_t *value, int limit) {
    CUresult status = begin(CONTEXT);
    if (!status && (limit < 0 || limit >= LIMITS))
        status = INVALID_VALUE;
    if (!status)
        *value = limits[limit];
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxSetLimit(int limit, size_t value) {
    CUresult status = begin(CONTEXT);
    if (!status && (limit < 0 || limit >= LIMITS))
        status = INVALID_VALUE;
    if (!status && (limit == STACK || limit == HEAP))
        notify(limit == STACK ? STACK_LIMIT : HEAP_LIMIT, 0, 0, value, 0);
    if (!status)
        limits[limit] = value;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CUresult status = begin(CONTEXT);
    if (!status) {
        if (least)
            *least = 0;
        if (greatest)
            *greatest = GREATEST_PRIORITY;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxSetCacheConfig(int configuration) {
    (void)configuration; /* a wish, which the driver may leave out */
    return finish(begin(CONTEXT), CALL_NS);
}

EXPORT CUresult cuCtxGetCacheConfig(int *configuration) {
    CUresult status = begin(CONTEXT);
    if (!status)
        *configuration = 0;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxSetSharedMemConfig(int configuration) {
    (void)configuration; /* banks have had four bytes since Maxwell */
    return finish(begin(CONTEXT), CALL_NS);
}

EXPORT CUresult cuCtxGetSharedMemConfig(int *configuration) {
    CUresult status = begin(CONTEXT);
    if (!status)
        *configuration = 1; /* four bytes */
    return finish(status, CALL_NS);
}

EXPORT CUresult cuProfilerStart(void) {
    return finish(begin(CONTEXT), CALL_NS);
}

EXPORT CUresult cuProfilerStop(void) {
    return finish(begin(CONTEXT), CALL_NS);
}

EXPORT CUresult cuProfilerInitialize(const char *configuration, const char *output, int mode) {
    (void)configuration, (void)output, (void)mode;
    return finish(begin(INITIALIZED), CALL_NS);
}

EXPORT CUresult cuCtxResetPersistingL2Cache(void) {
    return finish(begin(CONTEXT), CALL_NS);
}

/* Memory of other devices.  All of them can reach all others. */

static CUresult change_peer(CUcontext peer, int enable) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (status)
        return status;
    if (!peer || peer->device == current_device())
        return INVALID_CONTEXT;
    unsigned long long bit = 1ull << peer->device;
    if (enable == !!(current()->peers & bit))
        return enable ? PEER_ACCESS_ALREADY_ENABLED : PEER_ACCESS_NOT_ENABLED;
    current()->peers ^= bit;
    return SUCCESS;
}

EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    return flags ? INVALID_VALUE : finish(change_peer(peer, 1), CALL_NS);
}

EXPORT CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    return finish(change_peer(peer, 0), CALL_NS);
}
