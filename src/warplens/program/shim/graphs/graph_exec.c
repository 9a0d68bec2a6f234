/* Executable graphs: instantiated, updated, launched. */
#include "capture.h"

#include "driver.h"

#include <stdlib.h>
#include <string.h>

enum { SAME = 0, TOPOLOGY_CHANGED = 2, TYPE_CHANGED = 3, PARAMETERS_CHANGED = 5 }; /* cudaGraphExecUpdateResult */

/* After all that it waits for; 0 if that comes to wait for itself. */
static int visit(struct node *node, struct node **order, size_t *count) {
    if (node->visited)
        return node->visited == 2;
    node->visited = 1;
    for (size_t n = 0; n < node->before.count; n++)
        if (!visit(node->before.nodes[n], order, count))
            return 0;
    node->visited = 2;
    order[(*count)++] = node;
    return 1;
}

CUresult order_nodes(const struct graph *graph, struct node ***order) {
    size_t count = 0;
    int fine = 1;
    *order = calloc(graph->count + 1, sizeof **order);
    for (struct node *n = graph->first; n; n = n->next)
        n->visited = 0;
    for (struct node *n = graph->first; n && fine; n = n->next)
        fine = visit(n, *order, &count);
    if (!fine)
        free(*order);
    return fine ? SUCCESS : INVALID_VALUE;
}

/* Each node begins when those have ended that it waits for, and where the GPU has room. */
CUresult launch_graph(const struct graph *graph, struct node **order, struct stream *into, int64_t from, int64_t *end) {
    *end = from;
    for (size_t n = 0; n < graph->count; n++) {
        struct node *node = order[n];
        int64_t start = from;
        enum predecessor predecessor = into->kernel_end == from ? KERNEL_BEFORE : NO_KERNEL;
        for (size_t k = 0; k < node->before.count; k++)
            if (node->before.nodes[k]->end > start) {
                start = node->before.nodes[k]->end;
                predecessor = node->before.nodes[k]->ended_as;
            }
        struct stream *branch = open_branch(into, node->work.device, start, predecessor);
        CUresult status = node->disabled ? SUCCESS : perform(&node->work, branch);
        if (status)
            return status;
        node->end = branch->end;
        node->ended_as = branch->kernel_end != branch->end ? NO_KERNEL : branch->is_node ? KERNEL_NODE : KERNEL_BEFORE;
        if (node->end > *end)
            *end = node->end;
    }
    return SUCCESS;
}

static CUresult instantiate(struct graph_exec **exec, struct graph *graph, unsigned long long flags) {
    if (!exec || !graph)
        return INVALID_VALUE;
    struct graph_exec *made = calloc(1, sizeof *made);
    *made = (struct graph_exec){clone_graph(graph), flags, NULL};
    CUresult status = order_nodes(made->graph, &made->order);
    if (status) {
        destroy_graph(made->graph);
        free(made);
    } else {
        *exec = made;
    }
    return status;
}

EXPORT CUresult cuGraphInstantiateWithFlags(struct graph_exec **exec, struct graph *graph, unsigned long long flags) {
    CUresult status = begin(INITIALIZED);
    return finish(status ? status : instantiate(exec, graph, flags), ALLOCATE_NS);
}

EXPORT CUresult cuGraphInstantiateWithParams(struct graph_exec **exec, struct graph *graph, instantiation *wanted) {
    CUresult status = begin(INITIALIZED);
    if (!status)
        status = wanted ? instantiate(exec, graph, wanted->flags) : INVALID_VALUE;
    if (wanted) {
        wanted->node = NULL;
        wanted->result = status ? 2 : 0; /* 2: not a valid structure */
    }
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuGraphExecDestroy(struct graph_exec *exec) {
    CUresult status = begin(INITIALIZED);
    if (!status && !exec)
        status = INVALID_VALUE;
    if (!status) {
        destroy_graph(exec->graph);
        free(exec->order);
        free(exec);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphExecGetFlags(const struct graph_exec *exec, uint64_t *flags) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(exec && flags))
        status = INVALID_VALUE;
    if (!status)
        *flags = exec->flags;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphUpload(struct graph_exec *exec, CUstream stream) {
    CUresult status = begin_in(stream);
    return finish(status ? status : exec && stream_known(stream) ? SUCCESS : INVALID_VALUE, CALL_NS);
}

EXPORT CUresult cuGraphLaunch(struct graph_exec *exec, CUstream handle) {
    CUresult status = begin_in(handle);
    int captured = 0;
    if (!status)
        status = exec ? check_capture(handle, &captured) : INVALID_VALUE;
    if (!status && captured) {
        struct work child = {.type = CHILD_WORK, .device = current_device(), .child = clone_graph(exec->graph)};
        status = capture_work(handle, &child);
    } else if (!status) {
        struct stream *stream = found_stream(handle);
        int64_t end;
        advance_clock(GRAPH_LAUNCH_NS);
        assign_defaults(exec->graph);
        status = launch_graph(exec->graph, exec->order, stream, ready(stream), &end);
        stream_wait(handle, end);
        stream->kernel_end = end;
    }
    return finish(status, 0);
}

/* Updates: work of the same kind in the same places. */

static int same_edges(const struct node *node, const struct node *other) {
    if (node->before.count != other->before.count)
        return 0;
    for (size_t n = 0; n < node->before.count; n++)
        if (node->before.nodes[n]->place != other->before.nodes[n]->place)
            return 0;
    return 1;
}

static int difference(const struct graph *graph, const struct graph *other, update_result *result) {
    struct node *n = graph->first, *o = other->first;
    for (; n && o; n = n->next, o = o->next) {
        int found = SAME;
        if (!same_edges(n, o))
            found = TOPOLOGY_CHANGED;
        else if (n->work.type != o->work.type)
            found = TYPE_CHANGED;
        else if (n->work.type == CHILD_WORK)
            found = difference(n->work.child, o->work.child, result);
        else if (n->work.type == CONDITION_WORK)
            found = n->work.condition.handle == o->work.condition.handle ? SAME : PARAMETERS_CHANGED;
        else if (n->work.type == ALLOCATE_WORK || n->work.type == FREE_WORK)
            found = n->work.memory.address == o->work.memory.address ? SAME : PARAMETERS_CHANGED;
        if (found) {
            *result = (update_result){found, o, NULL};
            return found;
        }
    }
    if (n || o)
        *result = (update_result){TOPOLOGY_CHANGED, o, NULL};
    return n || o ? TOPOLOGY_CHANGED : SAME;
}

EXPORT CUresult cuGraphExecUpdate_v2(struct graph_exec *exec, struct graph *graph, update_result *result) {
    CUresult status = begin(INITIALIZED);
    update_result found = {SAME, NULL, NULL};
    if (!status && !(exec && graph))
        status = INVALID_VALUE;
    if (!status && difference(exec->graph, graph, &found))
        status = GRAPH_EXEC_UPDATE_FAILURE;
    struct node *o = status ? NULL : graph->first;
    for (struct node *n = o ? exec->graph->first : NULL; n; n = n->next, o = o->next) {
        drop_work(&n->work);
        n->work = copied_work(&o->work);
    }
    if (result)
        *result = found;
    return finish(status, CALL_NS);
}

/* Nodes of an executable graph that are switched off */

static CUresult node_in(struct graph_exec *exec, const struct node *node, struct node **found) {
    *found = exec && node ? copy_of(node, exec->graph) : NULL;
    int may = *found && ((*found)->work.type <= FILL_WORK);
    return may ? SUCCESS : INVALID_VALUE;
}

EXPORT CUresult cuGraphNodeSetEnabled(struct graph_exec *exec, const struct node *node, unsigned enabled) {
    CUresult status = begin(INITIALIZED);
    struct node *found;
    if (!status)
        status = node_in(exec, node, &found);
    if (!status)
        found->disabled = !enabled;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphNodeGetEnabled(struct graph_exec *exec, const struct node *node, unsigned *enabled) {
    CUresult status = begin(INITIALIZED);
    struct node *found;
    if (!status)
        status = node_in(exec, node, &found);
    if (!status)
        *enabled = !found->disabled;
    return finish(status, CALL_NS);
}
