/* Capture: work that is queued in a stream becomes nodes of a graph; events carry the capture to other streams. */
#include "capture.h"

#include "driver.h"

#include <pthread.h>
#include <stdlib.h>

struct capture {
    struct graph *graph;
    enum capture_mode mode;
    int added; /* to a graph of the program's */
    int invalid;
    unsigned long long id;
    pthread_t thread;
    struct stream *origin;
    struct capture *next;
};

static struct capture *captures; /* those in progress */
static __thread enum capture_mode thread_mode = GLOBAL_CAPTURE;

void invalidate(struct capture *capture) {
    capture->invalid = 1;
}

/* Calls that are not safe beside a capture end those that forbid them: one in global mode anywhere, or of this thread. */
CUresult forbid_in_capture(void) {
    CUresult status = SUCCESS;
    for (struct capture *c = captures; c && thread_mode != RELAXED_CAPTURE; c = c->next) {
        int mine = pthread_equal(c->thread, pthread_self());
        if ((c->mode == GLOBAL_CAPTURE && thread_mode == GLOBAL_CAPTURE) || (c->mode != RELAXED_CAPTURE && mine)) {
            invalidate(c);
            status = CAPTURE_UNSUPPORTED;
        }
    }
    return status;
}

CUresult forbid_captured(struct stream *stream) {
    if (stream->capture) {
        invalidate(stream->capture);
        return CAPTURE_UNSUPPORTED;
    }
    if (stream != default_stream(stream->device))
        return SUCCESS;
    for (struct stream *s = first_stream(); s; s = s->next)
        if (s->capture && !s->separate && s->capture->mode != RELAXED_CAPTURE) {
            invalidate(s->capture);
            return CAPTURE_IMPLICIT;
        }
    return SUCCESS;
}

CUresult check_capture(CUstream handle, int *captured) {
    struct stream *stream = found_stream(handle);
    *captured = 0;
    if (!stream)
        return INVALID_HANDLE;
    if (!captures)
        return SUCCESS;
    if (!stream->capture)
        return forbid_captured(stream);
    if (stream->capture->invalid)
        return CAPTURE_INVALIDATED;
    *captured = 1;
    return SUCCESS;
}

CUresult capture_work(CUstream handle, const struct work *work) {
    struct stream *stream = found_stream(handle);
    struct node *made = new_node(stream->capture->graph, &stream->tips, work);
    set_tips(&stream->tips, &made, 1);
    return SUCCESS;
}

CUresult capture_record(struct event *event, struct stream *stream) {
    event->capture = stream->capture;
    set_tips(&event->tips, stream->tips.nodes, stream->tips.count);
    return SUCCESS;
}

CUresult capture_wait(struct stream *stream, struct event *event) {
    if (!event->capture && stream->capture) { /* it would wait for work outside of the graph */
        invalidate(stream->capture);
        return CAPTURE_ISOLATION;
    }
    if (stream->capture && stream->capture != event->capture) {
        invalidate(stream->capture);
        invalidate(event->capture);
        return CAPTURE_MERGE;
    }
    if (stream == default_stream(stream->device)) {
        invalidate(event->capture);
        return CAPTURE_IMPLICIT;
    }
    stream->capture = event->capture;
    for (size_t n = 0; n < event->tips.count; n++)
        add_tip(&stream->tips, event->tips.nodes[n]);
    return SUCCESS;
}

static CUresult start(CUstream handle, struct graph *graph, const struct tips *before, int mode) {
    static unsigned long long ids;
    struct stream *stream = found_stream(handle);
    if (!stream)
        return INVALID_HANDLE;
    if (mode < GLOBAL_CAPTURE || mode > RELAXED_CAPTURE)
        return INVALID_VALUE;
    if (stream == default_stream(stream->device))
        return CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return ILLEGAL_STATE;
    struct capture *made = calloc(1, sizeof *made);
    *made = (struct capture){graph ? graph : new_graph(), mode, graph != NULL, 0, ++ids, pthread_self(), stream, captures};
    captures = stream->capture = made;
    set_tips(&stream->tips, before->nodes, before->count);
    return SUCCESS;
}

EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
    struct tips none = {NULL, 0};
    CUresult status = begin_in(stream);
    return finish(status ? status : start(stream, NULL, &none, mode), CALL_NS);
}

EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream stream, struct graph *graph, struct node **before,
                                            const edge_data *data, size_t count, int mode) {
    (void)data;
    struct tips tips = {before, count};
    CUresult status = begin_in(stream);
    if (!status)
        status = graph ? start(stream, graph, &tips, mode) : INVALID_VALUE;
    return finish(status, CALL_NS);
}

/* Whether all that was captured in other streams has come back to the origin: its last nodes are the only last ones. */
static int joined(const struct capture *capture) {
    const struct graph *graph = capture->graph;
    char *followed = calloc(graph->count + 1, 1);
    size_t last = 0;
    for (struct node *n = graph->first; n; n = n->next)
        for (size_t k = 0; k < n->before.count; k++)
            followed[n->before.nodes[k]->place] = 1;
    for (size_t n = 0; n < capture->origin->tips.count; n++)
        followed[capture->origin->tips.nodes[n]->place] = 1;
    for (struct stream *s = first_stream(); s; s = s->next)
        for (size_t n = 0; s->capture == capture && n < s->tips.count; n++)
            last += !followed[s->tips.nodes[n]->place];
    free(followed);
    return !last;
}

static void end(struct capture *capture) {
    struct capture **at = &captures;
    while (*at != capture)
        at = &(*at)->next;
    *at = capture->next;
    for (struct stream *s = first_stream(); s; s = s->next)
        if (s->capture == capture) {
            s->capture = NULL;
            set_tips(&s->tips, NULL, 0);
        }
    forget_capture(capture);
    free(capture);
}

EXPORT CUresult cuStreamEndCapture(CUstream handle, struct graph **graph) {
    CUresult status = begin_in(handle);
    struct stream *stream = status ? NULL : found_stream(handle);
    struct capture *capture = stream ? stream->capture : NULL;
    if (!status && !capture)
        status = stream ? ILLEGAL_STATE : INVALID_HANDLE;
    if (!status && capture->origin != stream)
        status = CAPTURE_UNMATCHED;
    else if (!status && capture->mode != RELAXED_CAPTURE && !pthread_equal(capture->thread, pthread_self()))
        status = CAPTURE_WRONG_THREAD;
    if (status)
        return finish(status, CALL_NS);
    status = capture->invalid ? CAPTURE_INVALIDATED : joined(capture) ? SUCCESS : CAPTURE_UNJOINED;
    if (graph)
        *graph = status ? NULL : capture->graph;
    if (status && !capture->added)
        destroy_graph(capture->graph);
    end(capture);
    return finish(status, CALL_NS);
}

static int status_of(const struct stream *stream) { /* cudaStreamCaptureStatus */
    return !stream->capture ? 0 : stream->capture->invalid ? 2 : 1;
}

EXPORT CUresult cuStreamIsCapturing(CUstream handle, int *status_found) {
    CUresult status = begin_in(handle);
    struct stream *stream = status ? NULL : found_stream(handle);
    if (!status && !(stream && status_found))
        status = stream ? INVALID_VALUE : INVALID_HANDLE;
    if (!status)
        *status_found = status_of(stream);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuStreamGetCaptureInfo_v3(CUstream handle, int *found, uint64_t *id, struct graph **graph,
                                          struct node *const **tips, const edge_data **data, size_t *count) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct stream *stream = status ? NULL : found_stream(handle);
    if (!status && !(stream && found))
        status = stream ? INVALID_VALUE : INVALID_HANDLE;
    if (status)
        return finish(status, CALL_NS);
    *found = status_of(stream);
    if (*found == 1) {
        if (id)
            *id = stream->capture->id;
        if (graph)
            *graph = stream->capture->graph;
        if (tips)
            *tips = stream->tips.nodes;
        if (count)
            *count = stream->tips.count;
    }
    if (data)
        *data = NULL;
    return finish(SUCCESS, CALL_NS);
}

EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, struct node **nodes, const edge_data *data,
                                                     size_t count, unsigned flags) {
    (void)data;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct stream *stream = status ? NULL : found_stream(handle);
    if (!status && !(stream && stream->capture && flags < 2))
        status = stream && flags < 2 ? INVALID_VALUE : INVALID_HANDLE;
    if (!status && flags) /* 1: set, 0: add */
        set_tips(&stream->tips, nodes, count);
    for (size_t n = 0; n < count && !status && !flags; n++)
        add_tip(&stream->tips, nodes[n]);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    if (!mode || *mode < GLOBAL_CAPTURE || *mode > RELAXED_CAPTURE)
        return INVALID_VALUE;
    int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return SUCCESS;
}
