/* Context: devices and contexts of the driver API.  There is one device; all contexts share its memory. */
#define _GNU_SOURCE
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 13000, MOST_PUSHED = 16, LIMITS = 16 };

struct context {
    unsigned flags;
    int live;
};

static struct context primary;
static int retained;
static __thread struct context *stack[MOST_PUSHED]; /* of this thread; the last is current */
static __thread int pushed;
static size_t limits[LIMITS] = {1024, 1 << 20, 8 << 20}; /* stack, printf, heap of malloc: the driver's defaults */

static struct context *current(void) {
    return pushed ? stack[pushed - 1] : NULL;
}

EXPORT CUresult cuDriverGetVersion(int *version) {
    if (!version)
        return INVALID_VALUE;
    *version = VERSION;
    return SUCCESS;
}

/* Devices */

static CUresult begin_on(CUdevice device) {
    CUresult status = begin(INITIALIZED);
    return status ? status : device ? INVALID_DEVICE : SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count) {
    CUresult status = begin(INITIALIZED);
    if (!status)
        *count = 1;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    CUresult status = begin_on(ordinal);
    if (!status)
        *device = ordinal;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        snprintf(name, length, "%s", gpu.name);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetUuid_v2(char *uuid, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        memcpy(uuid, gpu.uuid, sizeof gpu.uuid);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetUuid(char *uuid, CUdevice device) {
    return cuDeviceGetUuid_v2(uuid, device);
}

EXPORT CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        snprintf(text, length, "0000:01:00.0");
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status)
        *bytes = gpu.memory_bytes;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status && (attribute <= 0 || attribute >= ATTRIBUTES || !value))
        status = INVALID_VALUE;
    if (!status)
        *value = gpu.attributes[attribute];
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    CUresult status = cuDeviceGetAttribute(major, 75, device);
    return status ? status : cuDeviceGetAttribute(minor, 76, device);
}

EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    CUresult status = begin_on(device);
    if (!status && peer)
        status = INVALID_DEVICE;
    if (!status)
        *can = 0;
    return finish(status, CALL_NS);
}

/* Primary context */

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    CUresult status = begin_on(device);
    if (!status) {
        retained++;
        primary.live = 1;
        *context = &primary;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CUresult status = begin_on(device);
    if (!status && !retained)
        status = INVALID_CONTEXT;
    if (!status)
        retained--;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    return finish(begin_on(device), CALL_NS);
}

EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    CUresult status = begin_on(device);
    if (!status)
        primary.flags = flags;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    CUresult status = begin_on(device);
    if (!status) {
        *flags = primary.flags;
        *active = retained > 0;
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
        *made = (struct context){flags, 1};
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
        *device = 0;
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
            *greatest = -5;
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

EXPORT CUresult cuProfilerStart(void) {
    return finish(begin(CONTEXT), CALL_NS);
}

EXPORT CUresult cuProfilerStop(void) {
    return finish(begin(CONTEXT), CALL_NS);
}
