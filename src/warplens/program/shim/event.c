/* Events of the driver API. */
#include "graphs/capture.h"

#include "driver.h"

#include <stdlib.h>

static struct event *events;

struct event *known_event(CUevent handle) {
    for (struct event *e = events; e; e = e->next)
        if (e == handle)
            return e;
    return NULL;
}

EXPORT CUresult cuEventCreate(CUevent *handle, unsigned flags) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status) {
        struct event *made = calloc(1, sizeof *made);
        *made = (struct event){.timed = !(flags & 2), .context = current_context(), .next = events};
        *handle = events = made;
    }
    return finish(status, EVENT_NS);
}

static void settle(struct stream *stream, struct event *event) {
    for (int n = 0; n < stream->early_count; n++)
        if (stream->early[n] == event)
            stream->early[n--] = stream->early[--stream->early_count];
}

void settle_everywhere(struct event *event) {
    for (int n = 0; n < gpu.devices; n++)
        settle(default_stream(n), event);
    for (struct stream *s = first_stream(); s; s = s->next)
        settle(s, event);
}

void forget_capture(const struct capture *capture) {
    for (struct event *e = events; e; e = e->next)
        if (e->capture == capture) {
            e->capture = NULL;
            set_tips(&e->tips, NULL, 0);
        }
}

static void remove_event(struct event **at) {
    struct event *event = *at;
    settle_everywhere(event);
    *at = event->next;
    free(event->tips.nodes);
    free(event);
}

CUcontext owner_of(const void *handle) {
    for (struct stream *s = first_stream(); s; s = s->next)
        if (s == handle)
            return s->context;
    struct event *event = known_event((CUevent)handle);
    struct block *block = block_of((uint64_t)handle, 0);
    return event ? event->context : block ? block->context : NULL;
}

EXPORT CUresult cuEventDestroy_v2(CUevent handle) {
    CUresult status = begin_in(handle);
    struct event **at = &events;
    while (*at && *at != handle)
        at = &(*at)->next;
    if (!status && !*at)
        status = INVALID_HANDLE;
    if (!status)
        remove_event(at);
    return finish(status, EVENT_NS);
}

void remove_events_of(CUcontext context) {
    for (struct event **at = &events; *at;)
        if ((*at)->context == context)
            remove_event(at);
        else
            at = &(*at)->next;
}

void record_event(struct event *event, struct stream *stream) {
    int64_t end = end_before(stream);
    settle_everywhere(event);
    event->capture = NULL;
    event->recorded = 1;
    stream->kernel_end = 0;
    event->at = now() - end < NEAR_NS ? end : now();
    event->taken = taken_by_calls() + EVENT_NS;
    if (end <= now() && stream->early_count < MOST_EARLY)
        stream->early[stream->early_count++] = event;
}

/* `flags`: of cudaEventRecordExternal: in a capture a node that records, not an edge of the graph. */
static CUresult record(CUevent handle, CUstream on, unsigned flags) {
    CUresult status = begin_in(on);
    struct event *event = known_event(handle);
    int captured = 0;
    if (!status)
        status = event ? check_capture(on, &captured) : INVALID_HANDLE;
    if (!status && captured && flags) {
        struct work work = {.type = RECORD_WORK, .device = current_device(), .event = event};
        status = capture_work(on, &work);
    } else if (!status && captured) {
        status = capture_record(event, found_stream(on));
    } else if (!status) {
        record_event(event, found_stream(on));
    }
    return finish(status, EVENT_NS);
}

EXPORT CUresult cuEventRecord(CUevent handle, CUstream on) {
    return record(handle, on, 0);
}

EXPORT CUresult cuEventRecordWithFlags(CUevent handle, CUstream on, unsigned flags) {
    return record(handle, on, flags);
}

/* An event that belongs to a capture cannot be waited for outside. */
static CUresult begin_to_look(CUevent handle, struct event **event) {
    CUresult status = begin_in(handle);
    *event = known_event(handle);
    if (!status && !*event)
        status = INVALID_HANDLE;
    if (!status && (*event)->capture) {
        invalidate((*event)->capture);
        status = CAPTURED_EVENT;
    }
    return status;
}

EXPORT CUresult cuEventSynchronize(CUevent handle) {
    struct event *event;
    CUresult status = begin_to_look(handle, &event);
    if (!status) {
        settle_everywhere(event);
        wait_until(event->at);
        show_printed();
    }
    return finish(status, SYNCHRONIZE_NS);
}

EXPORT CUresult cuEventQuery(CUevent handle) {
    struct event *event;
    CUresult status = begin_to_look(handle, &event);
    return finish(status ? status : poll_until(event->at), CALL_NS);
}

EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent first, CUevent last) {
    CUresult status = begin_in(first);
    struct event *begun = known_event(first), *ended = known_event(last);
    if (!status && !(begun && ended && begun->recorded && ended->recorded && begun->timed && ended->timed))
        status = INVALID_HANDLE;
    if (!status && (begun->at > now() || ended->at > now()))
        status = NOT_READY;
    if (!status) {
        settle_everywhere(begun);
        settle_everywhere(ended);
        *milliseconds = (ended->at - begun->at) / 1e6;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent first, CUevent last) {
    return cuEventElapsedTime_v2(milliseconds, first, last);
}

EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent awaited, unsigned flags) {
    CUresult status = begin_in(handle);
    struct event *event = known_event(awaited);
    struct stream *stream = status ? NULL : found_stream(handle);
    if (!status && !(event && stream))
        status = INVALID_HANDLE;
    if (!status && stream->capture && flags) { /* cudaEventWaitExternal */
        struct work work = {.type = WAIT_WORK, .device = current_device(), .event = event};
        status = capture_work(handle, &work);
    } else if (!status && (stream->capture || event->capture)) {
        status = capture_wait(stream, event);
    } else if (!status) {
        stream_wait(handle, event->at);
    }
    return finish(status, CALL_NS);
}
