/* Streams and events: when the work that is queued will begin and end, in virtual time.

   Work is executed when it is queued, which is a legal order; only its time is simulated. */
#include "device.h"

#include <stdlib.h>

struct event {
    int64_t at;
    int recorded, timed;
    struct event *next;
};

/* An event recorded while the stream is idle takes place when the work before it ended and, unless somebody has looked
   at it by then, when the next work begins, if that is so near.  Two events around a launch are then as far apart as its
   predicted time, which was calibrated so, however slow the host is that runs this. */
enum { MOST_EARLY = 8, NEAR_NS = 20000000 };

struct stream {
    int64_t end;
    int separate, priority; /* separate: does not wait for the default stream (CU_STREAM_NON_BLOCKING) */
    unsigned long long id;
    struct event *early[MOST_EARLY];
    int early_count;
    struct stream *next;
};

static struct stream standard = {.id = 1}, per_thread = {.id = 2};
static struct stream *streams = &per_thread;
static struct event *events;
static int64_t engines[ANY_ENGINE];
static unsigned polls; /* in a row that answered "not ready" */

/* Kernels that are running: they share the GPU while their grids leave room. */
enum { MOST_RUNNING = 128 };
static struct {
    int64_t end;
    double share;
} running[MOST_RUNNING];

static struct stream *found(CUstream handle) {
    if (!handle || handle == (CUstream)1)
        return &standard;
    if (handle == (CUstream)2)
        return &per_thread;
    for (struct stream *s = streams; s; s = s->next)
        if (s == handle)
            return s;
    return NULL;
}

int stream_known(CUstream handle) {
    return found(handle) != NULL;
}

int64_t device_end(void) {
    int64_t last = standard.end;
    for (struct stream *s = streams; s; s = s->next)
        if (s->end > last)
            last = s->end;
    return last;
}

/* When the work before ends: the default stream waits for all others, and they for it. */
static int64_t end_before(struct stream *stream) {
    int64_t at = stream->end;
    if (stream == &standard) {
        for (struct stream *s = streams; s; s = s->next)
            if (!s->separate && s->end > at)
                at = s->end;
    } else if (!stream->separate && standard.end > at) {
        at = standard.end;
    }
    return at;
}

/* When work that is queued now may begin. */
static int64_t ready(struct stream *stream) {
    int64_t end = end_before(stream);
    return end > now() ? end : now();
}

static int64_t room_for(double share, int64_t at, int64_t duration) {
    int64_t start = at;
    for (;;) {
        double taken = 0;
        int64_t next = INT64_MAX;
        for (int n = 0; n < MOST_RUNNING; n++)
            if (running[n].end > start) {
                taken += running[n].share;
                if (running[n].end < next)
                    next = running[n].end;
            }
        if (taken + share <= 1.0 || next == INT64_MAX)
            break;
        start = next;
    }
    int oldest = 0;
    for (int n = 1; n < MOST_RUNNING; n++)
        if (running[n].end < running[oldest].end)
            oldest = n;
    running[oldest].end = start + duration;
    running[oldest].share = share;
    return start;
}

static void move_early(struct stream *stream, int64_t start) {
    for (int n = 0; n < stream->early_count; n++)
        if (start - stream->early[n]->at < NEAR_NS)
            stream->early[n]->at = start;
    stream->early_count = 0;
}

int64_t queue_work(CUstream handle, enum engine engine, double share, int64_t duration) {
    struct stream *stream = found(handle);
    int64_t start = ready(stream);
    if (engine == COMPUTE) {
        start = room_for(share, start, duration);
    } else if (engine != ANY_ENGINE) {
        if (engines[engine] > start)
            start = engines[engine];
        engines[engine] = start + duration;
    }
    notify(TIMED, stream->id, start, stream == &standard, duration);
    move_early(stream, start);
    if (!stream->separate)
        move_early(&standard, start);
    stream->end = start + duration;
    return stream->end;
}

void stream_wait(CUstream handle, int64_t until) {
    struct stream *stream = found(handle);
    if (until > stream->end)
        stream->end = until;
}

/* Whether a time has come.  A program that polls has nothing else to do: soon the clock jumps there. */
static CUresult poll_until(int64_t at) {
    if (at > now() && ++polls < 8)
        return NOT_READY;
    wait_until(at);
    polls = 0;
    show_printed();
    return SUCCESS;
}

/* Streams of the driver API */

EXPORT CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned flags, int priority) {
    static unsigned long long id = 16;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && (!handle || flags > 1))
        status = INVALID_VALUE;
    if (!status) {
        struct stream *made = calloc(1, sizeof *made);
        *made = (struct stream){.separate = flags & 1, .priority = priority, .id = id++, .next = streams};
        *handle = streams = made;
    }
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
    return cuStreamCreateWithPriority(handle, flags, 0);
}

EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct stream **at = &streams;
    while (*at && *at != handle)
        at = &(*at)->next;
    if (!status && (!*at || *at == &per_thread))
        status = INVALID_HANDLE;
    if (!status) {
        *at = (*at)->next;
        free(handle);
    }
    return finish(status, CALL_NS);
}

static CUresult begin_with(CUstream handle) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    return status ? status : found(handle) ? SUCCESS : INVALID_HANDLE;
}

EXPORT CUresult cuStreamSynchronize(CUstream handle) {
    CUresult status = begin_with(handle);
    if (!status) {
        wait_until(found(handle) == &standard ? ready(&standard) : found(handle)->end);
        show_printed();
    }
    return finish(status, SYNCHRONIZE_NS);
}

EXPORT CUresult cuStreamQuery(CUstream handle) {
    CUresult status = begin_with(handle);
    return finish(status ? status : poll_until(found(handle)->end), CALL_NS);
}

EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
    CUresult status = begin_with(handle);
    if (!status)
        *flags = found(handle)->separate;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamGetPriority(CUstream handle, int *priority) {
    CUresult status = begin_with(handle);
    if (!status)
        *priority = found(handle)->priority;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
    CUresult status = begin_with(handle);
    if (!status)
        *id = found(handle)->id;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext *context) {
    CUresult status = begin_with(handle);
    if (!status)
        cuCtxGetCurrent(context);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamIsCapturing(CUstream handle, int *capturing) {
    CUresult status = begin_with(handle);
    if (!status)
        *capturing = 0;
    return finish(status, CALL_NS);
}

/* Functions of the host that a stream calls: here, when they are queued, as all work before them is done. */

EXPORT CUresult cuLaunchHostFunc(CUstream handle, host_function call, void *data) {
    CUresult status = begin_with(handle);
    if (!status)
        show_printed();
    status = finish(status, CALL_NS);
    if (!status)
        call(data);
    return status;
}

EXPORT CUresult cuStreamAddCallback(CUstream handle, stream_callback call, void *data, unsigned flags) {
    (void)flags;
    CUresult status = begin_with(handle);
    status = finish(status, CALL_NS);
    if (!status)
        call(handle, SUCCESS, data);
    return status;
}

EXPORT CUresult cuCtxSynchronize(void) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status) {
        wait_until(device_end());
        show_printed();
    }
    return finish(status, SYNCHRONIZE_NS);
}

/* Events of the driver API */

static struct event *known(CUevent handle) {
    for (struct event *e = events; e; e = e->next)
        if (e == handle)
            return e;
    return NULL;
}

EXPORT CUresult cuEventCreate(CUevent *handle, unsigned flags) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status) {
        struct event *made = calloc(1, sizeof *made);
        *made = (struct event){.timed = !(flags & 2), .next = events};
        *handle = events = made;
    }
    return finish(status, EVENT_NS);
}

/* An event that somebody looks at, or that goes, does not move any more. */
static void settle(struct stream *stream, struct event *event) {
    for (int n = 0; n < stream->early_count; n++)
        if (stream->early[n] == event)
            stream->early[n--] = stream->early[--stream->early_count];
}

static void settle_everywhere(struct event *event) {
    settle(&standard, event);
    for (struct stream *s = streams; s; s = s->next)
        settle(s, event);
}

EXPORT CUresult cuEventDestroy_v2(CUevent handle) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct event **at = &events;
    while (*at && *at != handle)
        at = &(*at)->next;
    if (!status && !*at)
        status = INVALID_HANDLE;
    if (!status) {
        settle_everywhere(handle);
        *at = handle->next;
        free(handle);
    }
    return finish(status, EVENT_NS);
}

EXPORT CUresult cuEventRecord(CUevent handle, CUstream on) {
    CUresult status = begin_with(on);
    struct event *event = known(handle);
    if (!status && !event)
        status = INVALID_HANDLE;
    if (!status) {
        struct stream *stream = found(on);
        int64_t end = end_before(stream);
        settle_everywhere(event);
        event->recorded = 1;
        event->at = now() - end < NEAR_NS ? end : now();
        if (end <= now() && stream->early_count < MOST_EARLY)
            stream->early[stream->early_count++] = event;
    }
    return finish(status, EVENT_NS);
}

EXPORT CUresult cuEventRecordWithFlags(CUevent handle, CUstream on, unsigned flags) {
    (void)flags;
    return cuEventRecord(handle, on);
}

EXPORT CUresult cuEventSynchronize(CUevent handle) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct event *event = known(handle);
    if (!status && !event)
        status = INVALID_HANDLE;
    if (!status) {
        settle_everywhere(event);
        wait_until(event->at);
        show_printed();
    }
    return finish(status, SYNCHRONIZE_NS);
}

EXPORT CUresult cuEventQuery(CUevent handle) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct event *event = known(handle);
    if (!status && !event)
        status = INVALID_HANDLE;
    return finish(status ? status : poll_until(event->at), CALL_NS);
}

EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent first, CUevent last) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct event *begun = known(first), *ended = known(last);
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
    (void)flags;
    CUresult status = begin_with(handle);
    struct event *event = known(awaited);
    if (!status && !event)
        status = INVALID_HANDLE;
    if (!status)
        stream_wait(handle, event->at);
    return finish(status, CALL_NS);
}
