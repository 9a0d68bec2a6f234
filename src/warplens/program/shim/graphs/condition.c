/* Conditional nodes of graphs: bodies that run if, while or as often as a value says, which kernels set.

   The value is a word in the GPU's memory, and its handle the word's address (emulator: cudaGraphSetConditional). */
#include "graph_driver.h"

#include "driver.h"
#include "runtime.h"

#include <stdlib.h>

enum { IF, WHILE, SWITCH };            /* cudaGraphConditionalNodeType */
enum { ASSIGN_DEFAULT = 1, ROOM = 256 }; /* cudaGraphCondAssignDefault; bytes of a word of its own */

struct condition {
    uint64_t handle;
    uint32_t value;
    unsigned flags;
    struct condition *next;
};

static struct condition *conditions;

static const struct condition *condition_of(uint64_t handle) {
    const struct condition *found = conditions;
    while (found && found->handle != handle)
        found = found->next;
    return found;
}

static uint32_t *word_of(uint64_t handle) {
    return (uint32_t *)handle;
}

EXPORT CUresult cuGraphConditionalHandleCreate(uint64_t *handle, const struct graph *graph, CUcontext context, uint32_t value,
                                               unsigned flags) {
    (void)context;
    uint64_t address;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && (!handle || !graph || flags > ASSIGN_DEFAULT))
        status = INVALID_VALUE;
    if (!status)
        status = allocate(ROOM, GRAPH_MEMORY, &address);
    if (!status) {
        struct condition *made = calloc(1, sizeof *made);
        *made = (struct condition){address, value, flags, conditions};
        conditions = made;
        *word_of(address) = value;
        *handle = address;
    }
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cudaGraphConditionalHandleCreate(uint64_t *handle, const struct graph *graph, uint32_t value, unsigned flags) {
    return RUNTIME(cuGraphConditionalHandleCreate(handle, graph, NULL, value, flags));
}

CUresult add_condition(struct node **made, struct graph *graph, struct node *const *before, size_t count,
                       struct condition_parameters *p) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    unsigned most = p->type == WHILE ? 1 : p->type == IF ? 2 : ~0u;
    if (!status && (!condition_of(p->handle) || p->type < IF || p->type > SWITCH || !p->count || p->count > most))
        status = INVALID_VALUE;
    if (!status) {
        struct work work = {.type = CONDITION_WORK, .device = current_device(),
                            .condition = {p->handle, p->type, p->count, calloc(p->count, sizeof *p->bodies)}};
        for (unsigned n = 0; n < p->count; n++)
            work.condition.bodies[n] = new_graph();
        p->bodies = work.condition.bodies;
        status = add_node(made, graph, before, count, &work);
    }
    return finish(status, CALL_NS);
}

void assign_defaults(const struct graph *graph) {
    for (const struct node *n = graph->first; n; n = n->next) {
        if (n->work.type == CHILD_WORK)
            assign_defaults(n->work.child);
        if (n->work.type != CONDITION_WORK)
            continue;
        const struct condition *condition = condition_of(n->work.condition.handle);
        if (condition->flags & ASSIGN_DEFAULT)
            *word_of(condition->handle) = condition->value;
        for (unsigned k = 0; k < n->work.condition.count; k++)
            assign_defaults(n->work.condition.bodies[k]);
    }
}

/* The body for the value as it is now; NULL: none. */
static const struct graph *body_of(const struct condition_work *c) {
    uint32_t value = *word_of(c->handle), place = c->type == SWITCH ? value : !value;
    return place < c->count ? c->bodies[place] : NULL;
}

CUresult perform_condition(const struct condition_work *c, struct stream *stream) {
    CUresult status = SUCCESS;
    const struct graph *body;
    do {
        body = body_of(c);
        if (body)
            status = launch_within(body, stream);
    } while (body && c->type == WHILE && !status && !has_fault()); /* after a fault no kernel sets the value */
    return status;
}
