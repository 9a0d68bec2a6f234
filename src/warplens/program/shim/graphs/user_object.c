/* User objects: resources of the program that live as long as a graph refers to them. */
#include "graph_driver.h"

#include "driver.h"
#include "runtime.h"

#include <stdlib.h>

enum { MOVE = 1 }; /* cudaGraphUserObjectMove: the graph takes references of the caller's */

struct user_object {
    host_function destroy;
    void *data;
    size_t references;
};

struct retained { /* by a graph */
    struct user_object *object;
    size_t count;
    struct retained *next;
};

static void release_object(struct user_object *object, size_t count) {
    object->references -= count;
    if (!object->references) {
        object->destroy(object->data); /* which may not call CUDA */
        free(object);
    }
}

static void retain(struct graph *graph, struct user_object *object, size_t count) {
    struct retained *made = calloc(1, sizeof *made);
    *made = (struct retained){object, count, graph->retained};
    graph->retained = made;
}

void retain_as(struct graph *clone, const struct graph *graph) {
    for (struct retained *r = graph->retained; r; r = r->next) {
        r->object->references += r->count;
        retain(clone, r->object, r->count);
    }
}

void release_all(struct graph *graph) {
    for (struct retained *r = graph->retained, *next; r; r = next) {
        next = r->next;
        release_object(r->object, r->count);
        free(r);
    }
}

EXPORT CUresult cuUserObjectCreate(struct user_object **object, void *data, host_function destroy, unsigned count,
                                   unsigned flags) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(object && destroy && count && flags == 1)) /* 1: nobody waits for the destruction */
        status = INVALID_VALUE;
    if (!status) {
        *object = calloc(1, sizeof **object);
        **object = (struct user_object){destroy, data, count};
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuUserObjectRetain(struct user_object *object, unsigned count) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(object && count))
        status = INVALID_VALUE;
    if (!status)
        object->references += count;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuUserObjectRelease(struct user_object *object, unsigned count) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(object && count && count <= object->references))
        status = INVALID_VALUE;
    if (!status)
        release_object(object, count);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphRetainUserObject(struct graph *graph, struct user_object *object, unsigned count, unsigned flags) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(graph && object && count && flags <= MOVE))
        status = INVALID_VALUE;
    if (!status) {
        object->references += flags == MOVE ? 0 : count;
        retain(graph, object, count);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphReleaseUserObject(struct graph *graph, struct user_object *object, unsigned count) {
    CUresult status = begin(INITIALIZED);
    struct retained *found = status || !graph ? NULL : graph->retained;
    while (found && !(found->object == object && found->count >= count))
        found = found->next;
    if (!status && !found)
        status = INVALID_VALUE;
    if (!status) {
        struct retained **at = &graph->retained;
        while (*at != found)
            at = &(*at)->next;
        found->count -= count;
        if (!found->count) {
            *at = found->next;
            free(found);
        }
        release_object(object, count);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cudaUserObjectCreate(struct user_object **object, void *data, host_function destroy, unsigned count,
                                     unsigned flags) {
    return RUNTIME(cuUserObjectCreate(object, data, destroy, count, flags));
}

EXPORT CUresult cudaUserObjectRetain(struct user_object *object, unsigned count) {
    return RUNTIME(cuUserObjectRetain(object, count));
}

EXPORT CUresult cudaUserObjectRelease(struct user_object *object, unsigned count) {
    return RUNTIME(cuUserObjectRelease(object, count));
}

EXPORT CUresult cudaGraphRetainUserObject(struct graph *graph, struct user_object *object, unsigned count, unsigned flags) {
    return RUNTIME(cuGraphRetainUserObject(graph, object, count, flags));
}

EXPORT CUresult cudaGraphReleaseUserObject(struct graph *graph, struct user_object *object, unsigned count) {
    return RUNTIME(cuGraphReleaseUserObject(graph, object, count));
}
