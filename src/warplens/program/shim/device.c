/* Device: initialization, the lock around calls, and errors that stay. */
#define _GNU_SOURCE
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct greeting gpu;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialized; /* 1 after cuInit or the first call of the runtime API; -1 if that failed */
static CUresult failure;
static CUresult fault, seen_fault; /* of a kernel; and once a call has answered with it */
static __thread CUresult last_error;
static CUresult unasked; /* an error since the program last asked for the last error, and the call that gave it */
static const char *unasked_call;
enum { MOST_REPORTED = 1000 };
static int reported;

static CUresult connect_once(void) {
    if (!initialized) {
        failure = connect_server(&gpu);
        initialized = failure ? -1 : 1;
        if (!failure)
            show_virtual_clock(!gpu.real_time);
    }
    return failure;
}

static __thread int inside;

int in_call(void) {
    return inside;
}

CUresult begin(enum needs needs) {
    pthread_mutex_lock(&lock);
    inside = 1;
    freeze_clock();
    if (needs == NOTHING)
        return SUCCESS;
    if (initialized != 1)
        return initialized ? failure : NOT_INITIALIZED;
    CUresult context = needs >= CONTEXT ? enter_context() : SUCCESS;
    if (context)
        return context;
    if (needs == CONTEXT_AND_NO_FAULT)
        seen_fault = fault;
    return seen_fault;
}

CUresult finish(CUresult status, int64_t cost_ns) {
    advance_clock(cost_ns);
    if (gpu.checks)
        settle_host_access();
    release_clock();
    leave_context();
    inside = 0;
    end_per_thread();
    pthread_mutex_unlock(&lock);
    return status;
}

EXPORT CUresult cuInit(unsigned flags) {
    begin(NOTHING);
    return finish(flags ? INVALID_VALUE : connect_once(), CALL_NS);
}

void start_runtime(void) {
    static __thread int started; /* once a thread, and where none is current any more */
    if (started && current_context())
        return;
    started = 1;
    int per_thread = is_per_thread(); /* of the call that comes after */
    begin(NOTHING);
    CUresult status = finish(connect_once(), 0);
    CUcontext context;
    cuCtxGetCurrent(&context);
    if (!status && !context && !cuDevicePrimaryCtxRetain(&context, 0))
        cuCtxSetCurrent(context);
    if (per_thread)
        mark_per_thread();
}

int has_fault(void) {
    return fault != SUCCESS;
}

void keep_fault(CUresult found) {
    if (!fault)
        fault = found;
}

CUresult keep_error_of(const char *call, CUresult error) {
    if (error) {
        last_error = error;
        if (gpu.checks && error != NOT_READY && error != NOT_SUPPORTED && reported < MOST_REPORTED) {
            begin(NOTHING);
            reported++;
            if (strstr(call, "aunch")) /* which has no answer of its own in `kernel<<<...>>>` */
                unasked = error, unasked_call = call;
            report_error(ANSWERED, call, error);
            finish(SUCCESS, 0);
        }
    }
    return error;
}

void report_unseen_errors(void) {
    if (gpu.checks && unasked)
        report_error(NOT_ASKED_FOR, unasked_call, unasked);
    if (gpu.checks && fault && !seen_fault)
        report_error(NOT_SEEN, "", fault);
}

EXPORT CUresult cudaPeekAtLastError(void) {
    start_runtime();
    unasked = SUCCESS;
    return seen_fault ? seen_fault : failure ? failure : last_error;
}

EXPORT CUresult cudaGetLastError(void) {
    CUresult error = cudaPeekAtLastError();
    last_error = SUCCESS;
    return error;
}

static char *printed;
static size_t printed_bytes;

void keep_printed(const char *text, size_t bytes) {
    if (bytes) {
        printed = realloc(printed, printed_bytes + bytes);
        memcpy(printed + printed_bytes, text, bytes);
        printed_bytes += bytes;
    }
}

void show_printed(void) {
    if (printed_bytes)
        fwrite(printed, 1, printed_bytes, stdout);
    printed_bytes = 0;
}
