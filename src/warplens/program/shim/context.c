/* Contexts of the driver API.  All contexts of a device share its memory; what is made in one ends with it. */
#define _GNU_SOURCE
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 13000, MOST_PUSHED = 16 };

enum { STACK = 0, PRINTF = 1, HEAP = 2, LIMITS = 16 }; /* CUlimit */

struct context {
    unsigned flags;
    int live, device, users; /* users: cuCtxAttach */
    unsigned long long peers; /* devices whose memory it may access, a bit each */
    unsigned done;            /* for the first time (enum first) */
    int cache_configuration;  /* a wish, which is kept and given back */
};

static struct context primary[MOST_DEVICES];
static int retained[MOST_DEVICES];
static __thread struct context *stack[MOST_PUSHED]; /* of this thread; the last is current */
static __thread int pushed;
static __thread const void *named;     /* stream, event or memory of a call: without a current context it is in its own */
static __thread struct context *lent;  /* that one, during the call */
enum { DEFAULT_STACK = 1024, DEFAULT_HEAP = 8 << 20, SM_COUNT = 16 /* among the attributes */ };
enum { PENDING_LAUNCHES = 2048, L2_GRANULARITY = 64 };    /* measured: H100, driver 580 */
static size_t limits[LIMITS] = {DEFAULT_STACK, 0, DEFAULT_HEAP, 0, PENDING_LAUNCHES, L2_GRANULARITY};

static struct context *current(void) {
    return pushed ? stack[pushed - 1] : lent;
}

int current_device(void) {
    return current() ? current()->device : 0;
}

CUcontext current_context(void) {
    return current();
}

static int is_primary(const struct context *context) {
    return context >= primary && context < primary + MOST_DEVICES;
}

/* A primary context that was reset begins anew; another one that was destroyed may still be current. */
CUresult enter_context(void) {
    lent = pushed || !named ? NULL : owner_of(named);
    struct context *context = current();
    if (!context)
        return INVALID_CONTEXT;
    if (is_primary(context))
        context->live = 1;
    return context->live ? SUCCESS : CONTEXT_IS_DESTROYED;
}

CUresult begin_in(const void *handle) {
    named = handle;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    named = NULL;
    return status;
}

void leave_context(void) {
    lent = NULL;
}

int is_first_in_context(enum first what) {
    struct context *context = current();
    int first = context && !(context->done & what);
    if (first)
        context->done |= what;
    return first;
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

static void set_limit(int limit, size_t value) {
    if (limit == STACK || limit == HEAP)
        notify(limit == STACK ? STACK_LIMIT : HEAP_LIMIT, 0, 0, value, 0);
    limits[limit] = value;
}

static void end(struct context *context) {
    end_context(context, context->device);
    context->live = 0;
    context->peers = context->done = context->cache_configuration = 0;
}

static void reset(CUdevice device) {
    end(&primary[device]);
    forget_pools(device);
    forget_variables(device);
    set_limit(STACK, DEFAULT_STACK);
    set_limit(PRINTF, 0);
    set_limit(HEAP, DEFAULT_HEAP);
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CUresult status = begin_on(device);
    if (!status && !retained[device])
        status = INVALID_CONTEXT;
    if (!status && !--retained[device])
        reset(device);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    CUresult status = begin_on(device);
    if (!status && primary[device].live)
        reset(device);
    return finish(status, CALL_NS);
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
        *active = retained[device] > 0 && primary[device].live;
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
        *made = (struct context){.flags = flags, .live = 1, .device = device, .users = 1};
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
    if (!status && (!context || is_primary(context)))
        status = INVALID_CONTEXT;
    if (!status && !context->live)
        status = CONTEXT_IS_DESTROYED;
    if (!status) {
        end(context);
        if (current() == context) /* it stays in those of other threads */
            pushed--;
    }
    return finish(status, CALL_NS);
}

/* The older way to share a context: it ends when nobody uses it any more. */
EXPORT CUresult cuCtxAttach(CUcontext *context, unsigned flags) {
    CUresult status = begin(CONTEXT);
    if (!status && (!context || flags))
        status = INVALID_VALUE;
    if (!status) {
        current()->users++;
        *context = current();
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxDetach(CUcontext context) {
    CUresult status = begin(INITIALIZED);
    int last = !status && context && !is_primary(context) && context->live && !--context->users;
    if (!status && !context)
        status = INVALID_CONTEXT;
    status = finish(status, CALL_NS);
    return last ? cuCtxDestroy_v2(context) : status;
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
    if (!status && limit == PRINTF && !limits[PRINTF])
        *value = (size_t)gpu.attributes[SM_COUNT] << 16; /* measured: 8,650,752 bytes with the 132 SMs of an H100 */
    else if (!status)
        *value = limits[limit];
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxSetLimit(int limit, size_t value) {
    CUresult status = begin(CONTEXT);
    if (!status && (limit < 0 || limit >= LIMITS))
        status = INVALID_VALUE;
    if (!status)
        set_limit(limit, value);
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
    CUresult status = begin(CONTEXT);
    if (!status && (configuration < 0 || configuration > 3))
        status = INVALID_VALUE;
    if (!status)
        current()->cache_configuration = configuration;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuCtxGetCacheConfig(int *configuration) {
    CUresult status = begin(CONTEXT);
    if (!status)
        *configuration = current()->cache_configuration;
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
