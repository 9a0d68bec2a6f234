/* Streams of the driver API, and functions of the host that they call. */
#include "graphs/capture.h"

#include "driver.h"

#include <string.h>

enum { ACCESS_POLICY = 1, SYNCHRONIZATION_POLICY = 3, PRIORITY = 8, MEMORY_DOMAIN = 10 }; /* CUstreamAttrID */

EXPORT CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned flags, int priority) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && (!handle || flags > 1))
        status = INVALID_VALUE;
    if (!status) {
        int least = 0, greatest = GREATEST_PRIORITY; /* others are taken for the nearest of them */
        *handle = new_stream(flags, priority > least ? least : priority < greatest ? greatest : priority);
    }
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
    return cuStreamCreateWithPriority(handle, flags, 0);
}

EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
    CUresult status = begin_in(handle);
    struct stream *stream = first_stream();
    while (stream && stream != handle)
        stream = stream->next;
    if (!status && !(stream && stream->destroyable))
        status = INVALID_HANDLE;
    if (!status)
        remove_stream(stream);
    return finish(status, CALL_NS);
}

static CUresult begin_with(CUstream handle) {
    CUresult status = begin_in(handle);
    return status ? status : stream_known(handle) ? SUCCESS : INVALID_HANDLE;
}

/* Calls that look at a stream, which must not be captured. */
static CUresult begin_to_look(CUstream handle) {
    CUresult status = begin_with(handle);
    return status ? status : forbid_captured(found_stream(handle));
}

EXPORT CUresult cuStreamSynchronize(CUstream handle) {
    CUresult status = begin_to_look(handle);
    struct stream *stream = status ? NULL : found_stream(handle);
    if (!status) {
        wait_until(stream == default_stream(stream->device) ? ready(stream) : stream->end);
        show_printed();
    }
    return finish(status, SYNCHRONIZE_NS);
}

EXPORT CUresult cuStreamQuery(CUstream handle) {
    CUresult status = begin_to_look(handle);
    return finish(status ? status : poll_until(found_stream(handle)->end), CALL_NS);
}

EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
    CUresult status = begin_with(handle);
    if (!status)
        *flags = found_stream(handle)->separate;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamGetPriority(CUstream handle, int *priority) {
    CUresult status = begin_with(handle);
    if (!status)
        *priority = found_stream(handle)->priority;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
    CUresult status = begin_with(handle);
    if (!status)
        *id = found_stream(handle)->id;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext *context) {
    CUresult status = begin_with(handle);
    if (!status)
        cuCtxGetCurrent(context);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamGetDevice(CUstream handle, CUdevice *device) {
    CUresult status = begin_with(handle);
    if (!status)
        *device = found_stream(handle)->device;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t size, unsigned flags) {
    CUresult status = begin_with(handle); /* managed memory may be used by both at any time here */
    struct block *block = status ? NULL : block_of(address, size);
    if (!status && !(block && block->kind == MANAGED_MEMORY && (flags == 1 || flags == 2 || flags == 4)))
        status = INVALID_VALUE;
    return finish(status, CALL_NS);
}

/* Attributes: wishes, most of them without effect here, which are kept and given back. */

static int *number_among(struct stream *stream, int attribute) {
    return attribute == SYNCHRONIZATION_POLICY ? &stream->synchronization_policy
           : attribute == PRIORITY             ? &stream->priority
           : attribute == MEMORY_DOMAIN        ? &stream->memory_domain
                                               : NULL;
}

static CUresult begin_with_attribute(CUstream handle, int attribute, const void *value) {
    CUresult status = begin_with(handle);
    if (!status && !(value && (attribute == ACCESS_POLICY || number_among(found_stream(handle), attribute))))
        status = INVALID_VALUE;
    return status;
}

EXPORT CUresult cuStreamSetAttribute(CUstream handle, int attribute, const void *value) {
    CUresult status = begin_with_attribute(handle, attribute, value);
    if (!status && attribute == ACCESS_POLICY)
        memcpy(found_stream(handle)->access_policy, value, sizeof found_stream(handle)->access_policy);
    else if (!status)
        *number_among(found_stream(handle), attribute) = *(const int *)value;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamGetAttribute(CUstream handle, int attribute, void *value) {
    CUresult status = begin_with_attribute(handle, attribute, value);
    if (!status && attribute == ACCESS_POLICY)
        memcpy(value, found_stream(handle)->access_policy, sizeof found_stream(handle)->access_policy);
    else if (!status)
        *(int *)value = *number_among(found_stream(handle), attribute);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
    CUresult status = begin_with(to);
    if (!status && !stream_known(from))
        status = INVALID_HANDLE;
    if (!status) {
        struct stream *target = found_stream(to);
        const struct stream *source = found_stream(from);
        memcpy(target->access_policy, source->access_policy, sizeof target->access_policy);
        target->synchronization_policy = source->synchronization_policy;
        target->memory_domain = source->memory_domain;
    }
    return finish(status, CALL_NS);
}

/* Functions of the host that a stream calls: here, when they are queued, as all work before them is done. */

EXPORT CUresult cuLaunchHostFunc(CUstream handle, host_function call, void *data) {
    CUresult status = begin_in(handle);
    int captured = 0;
    if (!status)
        status = call ? check_capture(handle, &captured) : INVALID_VALUE;
    if (!status && captured) {
        struct work work = {.type = HOST_WORK, .device = current_device(), .host = {call, data}};
        status = capture_work(handle, &work);
    } else if (!status) {
        show_printed();
    }
    status = finish(status, CALL_NS);
    if (!status && !captured)
        call(data);
    return status;
}

EXPORT CUresult cuStreamAddCallback(CUstream handle, stream_callback call, void *data, unsigned flags) {
    (void)flags;
    CUresult status = begin_to_look(handle); /* a callback cannot be captured */
    if (!status)
        show_printed();
    status = finish(status, CALL_NS);
    if (!status)
        call(handle, SUCCESS, data);
    return status;
}

EXPORT CUresult cuCtxSynchronize(void) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = forbid_in_capture();
    if (!status) {
        wait_until(device_end(current_device()));
        show_printed();
    }
    return finish(status, SYNCHRONIZE_NS);
}
