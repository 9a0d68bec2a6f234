/* Timeline: when the work that is queued will begin and end, in virtual time.

   Work is executed when it is queued, which is a legal order; only its time is simulated. */
#include "stream.h"

#include <stdlib.h>

/* Kernels that are running: they share a GPU while their grids leave room. */
enum { MOST_RUNNING = 128 };

static struct timeline {
    struct stream standard, per_thread, branch;
    int64_t engines[ANY_ENGINE];
    struct running {
        int64_t start, end;
        double share;
        struct stream *stream; /* NULL: of a graph, or the stream has gone */
    } running[MOST_RUNNING];
} timelines[MOST_DEVICES];

static struct stream *streams;
static unsigned long long ids = 1;
static unsigned polls; /* in a row that answered "not ready" */

static void enter(struct stream *stream, int device) {
    stream->device = device;
    stream->synchronization_policy = AS_IN_CONTEXT;
    stream->id = ids++;
    stream->next = streams;
    streams = stream;
}

static struct timeline *timeline_of(int device) {
    struct timeline *found = &timelines[device];
    if (!found->standard.id) {
        found->standard.device = device;
        found->standard.id = ids++;
        found->standard.synchronization_policy = AS_IN_CONTEXT;
        enter(&found->per_thread, device);
        found->branch.separate = 1;
        enter(&found->branch, device);
    }
    return found;
}

struct stream *default_stream(int device) {
    return &timeline_of(device)->standard;
}

struct stream *first_stream(void) {
    return streams;
}

struct stream *found_stream(CUstream handle) {
    struct timeline *timeline = timeline_of(current_device());
    if (handle == (CUstream)2 || (!handle && is_per_thread()))
        return &timeline->per_thread;
    if (!handle || handle == (CUstream)1)
        return &timeline->standard;
    for (int n = 0; n < MOST_DEVICES; n++)
        if (handle == &timelines[n].standard)
            return handle;
    for (struct stream *s = streams; s; s = s->next)
        if (s == handle)
            return s;
    return NULL;
}

int stream_known(CUstream handle) {
    return found_stream(handle) != NULL;
}

struct stream *new_stream(unsigned flags, int priority) {
    struct stream *made = calloc(1, sizeof *made);
    made->separate = flags & 1;
    made->priority = priority;
    made->destroyable = 1;
    made->context = current_context();
    enter(made, current_device());
    return made;
}

void remove_stream(struct stream *stream) {
    struct stream **at = &streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    for (int n = 0; n < MOST_RUNNING; n++)
        if (timelines[stream->device].running[n].stream == stream)
            timelines[stream->device].running[n].stream = NULL;
    free(stream->tips.nodes);
    free(stream);
}

void remove_streams_of(CUcontext context) {
    struct stream *next;
    for (struct stream *s = streams; s; s = next) {
        next = s->next;
        if (s->destroyable && s->context == context)
            remove_stream(s);
    }
}

int64_t device_end(int device) {
    int64_t last = default_stream(device)->end;
    for (struct stream *s = streams; s; s = s->next)
        if (s->device == device && s->end > last)
            last = s->end;
    return last;
}

/* The default stream waits for all others of its device, and they for it. */
int64_t end_before(struct stream *stream) {
    int64_t at = stream->end;
    struct stream *standard = default_stream(stream->device);
    if (stream == standard) {
        for (struct stream *s = streams; s; s = s->next)
            if (!s->separate && s->device == stream->device && s->end > at)
                at = s->end;
    } else if (!stream->separate && standard->end > at) {
        at = standard->end;
    }
    return at;
}

int64_t ready(struct stream *stream) {
    int64_t end = end_before(stream);
    return end > now() ? end : now();
}

/* A kernel that has not begun gives way to one of a stream of higher priority, which is a smaller number, unless an event
   stands behind it, whose time is known. */
static int gives_way(const struct running *kernel, const struct stream *to, int64_t ready) {
    const struct stream *own = kernel->stream;
    int waits = kernel->start >= ready && kernel->start > now();
    return own && own->priority > to->priority && waits && own->kernel_end == own->end;
}

static void postpone(struct running *kernel, int64_t by) {
    struct stream *stream = kernel->stream;
    if (kernel->end == stream->end)
        stream->end = stream->kernel_end = kernel->end + by;
    kernel->start += by;
    kernel->end += by;
}

static int64_t room_for(struct timeline *t, struct stream *stream, double share, int64_t at, int64_t duration) {
    int64_t start = at;
    for (;;) {
        double taken = 0;
        int64_t next = INT64_MAX;
        for (int n = 0; n < MOST_RUNNING; n++)
            if (t->running[n].end > start && !gives_way(&t->running[n], stream, at)) {
                taken += t->running[n].share;
                if (t->running[n].end < next)
                    next = t->running[n].end;
            }
        if (taken + share <= 1.0 || next == INT64_MAX)
            break;
        start = next;
    }
    int oldest = 0;
    for (int n = 0; n < MOST_RUNNING; n++) {
        struct running *kernel = &t->running[n];
        if (gives_way(kernel, stream, at) && kernel->end > start && kernel->share + share > 1.0)
            postpone(kernel, duration);
        if (kernel->end < t->running[oldest].end)
            oldest = n;
    }
    t->running[oldest] = (struct running){start, start + duration, share, stream->parent ? NULL : stream};
    return start;
}

static void move_early(struct stream *stream, int64_t start, enum engine engine) {
    for (int n = 0; n < stream->early_count; n++) {
        struct event *event = stream->early[n];
        int64_t at = engine == COMPUTE ? start - (taken_by_calls() - event->taken) : start;
        if (at > event->at && at - event->at < NEAR_NS)
            event->at = at;
    }
    stream->early_count = 0;
}

/* Measured, H200: empty nodes of a graph follow each other every 0.72 us (measurements/h200/launch_intervals.csv). */
enum { SHORTEST_NS = 720 };

static int64_t shorter(int64_t duration, int64_t by) {
    return duration > by + SHORTEST_NS ? duration - by : duration < SHORTEST_NS ? duration : SHORTEST_NS;
}

int64_t queue_work(CUstream handle, enum engine engine, double share, int64_t duration) {
    struct stream *stream = found_stream(handle);
    struct timeline *timeline = timeline_of(stream->device);
    int64_t start = ready(stream);
    if (engine == COMPUTE) {
        if (start == stream->kernel_end)
            duration = shorter(duration, gpu.back_to_back_ns + (stream->is_node ? gpu.node_ns : 0));
        start = room_for(timeline, stream, share, start, duration);
    } else if (engine != ANY_ENGINE) {
        if (timeline->engines[engine] > start)
            start = timeline->engines[engine];
        timeline->engines[engine] = start + duration;
    }
    move_early(stream, start, engine);
    struct stream *launched_into = stream->parent ? stream->parent : stream;
    int is_default = launched_into == default_stream(launched_into->device);
    notify(TIMED, launched_into->id, start, 2 * launched_into->device + is_default, duration);
    if (stream->parent)
        move_early(stream->parent, start, engine);
    if (!launched_into->separate)
        move_early(default_stream(launched_into->device), start, engine);
    stream->end = start + duration;
    stream->kernel_end = engine == COMPUTE ? stream->end : 0;
    stream->is_node = engine == COMPUTE && stream->parent;
    return stream->end;
}

/* Measured, H100, driver 580: nodes of a graph that fill or copy memory of the GPU follow each other and kernels as
   kernels do, every 0.97 us and what their bytes take; a kernel behind a fill of less than 64 KiB, which is none, comes
   some 0.75 us later. */
enum { SMALLEST_FILL_BY_KERNEL = 65536 };

int64_t memory_work_ns(CUstream handle, double bytes_ns) {
    return (found_stream(handle)->parent ? gpu.kernel_ns : gpu.next_copy_ns) + bytes_ns;
}

int64_t queue_memory_work(CUstream handle, int64_t duration, size_t filled) {
    struct stream *stream = found_stream(handle);
    int small = filled < SMALLEST_FILL_BY_KERNEL;
    stream->is_node |= small;
    int64_t end = queue_work(handle, stream->parent ? COMPUTE : ANY_ENGINE, 0, duration);
    stream->is_node &= !small;
    return end;
}

void stream_wait(CUstream handle, int64_t until) {
    struct stream *stream = found_stream(handle);
    if (until > stream->end)
        stream->end = until, stream->kernel_end = 0;
}

struct stream *open_branch(struct stream *parent, int device, int64_t from, enum predecessor predecessor) {
    struct stream *branch = &timeline_of(device)->branch;
    branch->parent = parent;
    branch->end = from;
    branch->kernel_end = predecessor == NO_KERNEL ? 0 : from;
    branch->is_node = predecessor == KERNEL_NODE;
    return branch;
}

/* Whether a time has come.  A program that polls has nothing else to do: soon the clock jumps there. */
CUresult poll_until(int64_t at) {
    if (at > now() && ++polls < 8)
        return NOT_READY;
    wait_until(at);
    polls = 0;
    show_printed();
    return SUCCESS;
}
