/* Nodes of graphs: made from their parameters, and these read and changed, also in executable graphs. */
#include "graph_driver.h"

#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* Work from the parameters of each kind of node */

CUresult work_of_kernel(struct work *work, const kernel_parameters *p, struct function *function) {
    struct shape shape = {p->grid, p->block, {0, 0, 0}, p->shared, 0, NULL};
    return kernel_work(work, function, &shape, p->values, p->extra);
}

CUresult work_of_copy(struct work *work, const copy_3d *copy) {
    struct rows rows;
    *work = (struct work){.type = COPY_WORK, .device = current_device(), .copy = *copy};
    return rows_of(copy, &rows);
}

CUresult work_of_fill(struct work *work, const struct fill_work *fill) {
    *work = (struct work){.type = FILL_WORK, .device = current_device(), .fill = *fill};
    int known = fill->element == 1 || fill->element == 2 || fill->element == 4;
    return known && fill->width && fill->height && block_of(fill->to, 1) ? SUCCESS : INVALID_VALUE;
}

static CUresult work_of_host(struct work *work, const struct host_work *host) {
    *work = (struct work){.type = HOST_WORK, .device = current_device(), .host = *host};
    return host->call ? SUCCESS : INVALID_VALUE;
}

static CUresult work_of_event(struct work *work, enum work_type type, CUevent event) {
    *work = (struct work){.type = type, .device = current_device(), .event = event};
    return known_event(event) ? SUCCESS : INVALID_HANDLE;
}

/* Adds a node for work that has been made, unless with an error. */
CUresult add_node(struct node **made, struct graph *graph, struct node *const *before, size_t count, struct work *work) {
    struct tips tips = {(struct node **)before, count};
    int fine = made && graph;
    for (size_t n = 0; n < count && fine; n++)
        fine = before && before[n] && before[n]->graph == graph;
    if (fine)
        *made = new_node(graph, &tips, work);
    else
        drop_work(work);
    return fine ? SUCCESS : INVALID_VALUE;
}

/* Replaces the work of a node by work of the same kind. */
CUresult change_node(struct node *node, struct work *work) {
    if (!node || node->work.type != work->type) {
        drop_work(work);
        return INVALID_VALUE;
    }
    if (work->type == KERNEL_WORK) { /* attributes stay */
        work->kernel.shape.cluster = node->work.kernel.shape.cluster;
        work->kernel.shape.cooperative = node->work.kernel.shape.cooperative;
    }
    drop_work(&node->work);
    node->work = *work;
    return SUCCESS;
}

struct node *node_of_exec(const struct graph_exec *exec, const struct node *node) {
    return exec && node ? copy_of(node, exec->graph) : NULL;
}

static struct work *work_of(struct node *node, enum work_type type) {
    return node && node->work.type == type ? &node->work : NULL;
}

/* Kernels */

static struct function *function_in(const kernel_parameters *p) {
    return p->function ? p->function : p->kernel;
}

EXPORT CUresult cuGraphAddKernelNode_v2(struct node **made, struct graph *graph, struct node *const *before, size_t count,
                                        const kernel_parameters *p) {
    struct work work;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = p ? work_of_kernel(&work, p, function_in(p)) : INVALID_VALUE;
    return finish(status ? status : add_node(made, graph, before, count, &work), CALL_NS);
}

void give_kernel(const struct work *work, kernel_parameters *p) { /* not kernel and context: those of the runtime end before */
    const struct kernel_work *k = &work->kernel;
    p->function = k->function;
    p->grid = k->shape.grid, p->block = k->shape.block;
    p->shared = k->shape.shared;
    p->values = k->values, p->extra = NULL;
}

EXPORT CUresult cuGraphKernelNodeGetParams_v2(struct node *node, kernel_parameters *p) {
    CUresult status = begin(INITIALIZED);
    struct work *work = work_of(node, KERNEL_WORK);
    if (!status && !(work && p))
        status = INVALID_VALUE;
    if (!status) {
        give_kernel(work, p);
        p->kernel = NULL;
        cuCtxGetCurrent((CUcontext *)&p->context);
    }
    return finish(status, CALL_NS);
}

static CUresult change_kernel(struct node *node, const kernel_parameters *p) {
    struct work work;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = p ? work_of_kernel(&work, p, function_in(p)) : INVALID_VALUE;
    return finish(status ? status : change_node(node, &work), CALL_NS);
}

EXPORT CUresult cuGraphKernelNodeSetParams_v2(struct node *node, const kernel_parameters *p) {
    return change_kernel(node, p);
}

EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(struct graph_exec *exec, struct node *node, const kernel_parameters *p) {
    return change_kernel(node_of_exec(exec, node), p);
}

EXPORT CUresult cuGraphKernelNodeSetAttribute(struct node *node, int attribute, const void *value) {
    CUresult status = begin(INITIALIZED);
    struct work *work = work_of(node, KERNEL_WORK);
    if (!status && !(work && value))
        status = INVALID_VALUE;
    if (!status) {
        launch_attribute given = {.id = attribute};
        memcpy(&given.value, value, sizeof given.value);
        apply_attributes(&work->kernel.shape, &given, 1);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphKernelNodeGetAttribute(struct node *node, int attribute, void *value) {
    CUresult status = begin(INITIALIZED);
    struct work *work = work_of(node, KERNEL_WORK);
    if (!status && !(work && value))
        status = INVALID_VALUE;
    if (!status) {
        memset(value, 0, sizeof((launch_attribute *)0)->value);
        if (attribute == ATTRIBUTE_CLUSTER)
            memcpy(value, &work->kernel.shape.cluster, sizeof(dim3));
        else if (attribute == ATTRIBUTE_COOPERATIVE)
            memcpy(value, &work->kernel.shape.cooperative, sizeof(int));
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphKernelNodeCopyAttributes(struct node *to, struct node *from) {
    CUresult status = begin(INITIALIZED);
    struct work *target = work_of(to, KERNEL_WORK), *source = work_of(from, KERNEL_WORK);
    if (!status && !(target && source))
        status = INVALID_VALUE;
    if (!status) {
        target->kernel.shape.cluster = source->kernel.shape.cluster;
        target->kernel.shape.cooperative = source->kernel.shape.cooperative;
    }
    return finish(status, CALL_NS);
}

/* Fills */

EXPORT CUresult cuGraphAddMemsetNode(struct node **made, struct graph *graph, struct node *const *before, size_t count,
                                     const struct fill_work *fill, CUcontext context) {
    (void)context;
    struct work work;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = fill ? work_of_fill(&work, fill) : INVALID_VALUE;
    return finish(status ? status : add_node(made, graph, before, count, &work), CALL_NS);
}

EXPORT CUresult cuGraphMemsetNodeGetParams(struct node *node, struct fill_work *fill) {
    CUresult status = begin(INITIALIZED);
    struct work *work = work_of(node, FILL_WORK);
    if (!status && !(work && fill))
        status = INVALID_VALUE;
    if (!status)
        *fill = work->fill;
    return finish(status, CALL_NS);
}

static CUresult change_fill(struct node *node, const struct fill_work *fill) {
    struct work work;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = fill ? work_of_fill(&work, fill) : INVALID_VALUE;
    return finish(status ? status : change_node(node, &work), CALL_NS);
}

EXPORT CUresult cuGraphMemsetNodeSetParams(struct node *node, const struct fill_work *fill) {
    return change_fill(node, fill);
}

EXPORT CUresult cuGraphExecMemsetNodeSetParams(struct graph_exec *exec, struct node *node, const struct fill_work *fill,
                                               CUcontext context) {
    (void)context;
    return change_fill(node_of_exec(exec, node), fill);
}

/* Functions of the host */

EXPORT CUresult cuGraphAddHostNode(struct node **made, struct graph *graph, struct node *const *before, size_t count,
                                   const struct host_work *host) {
    struct work work;
    CUresult status = begin(INITIALIZED);
    if (!status)
        status = host ? work_of_host(&work, host) : INVALID_VALUE;
    return finish(status ? status : add_node(made, graph, before, count, &work), CALL_NS);
}

EXPORT CUresult cuGraphHostNodeGetParams(struct node *node, struct host_work *host) {
    CUresult status = begin(INITIALIZED);
    struct work *work = work_of(node, HOST_WORK);
    if (!status && !(work && host))
        status = INVALID_VALUE;
    if (!status)
        *host = work->host;
    return finish(status, CALL_NS);
}

static CUresult change_host(struct node *node, const struct host_work *host) {
    struct work work;
    CUresult status = begin(INITIALIZED);
    if (!status)
        status = host ? work_of_host(&work, host) : INVALID_VALUE;
    return finish(status ? status : change_node(node, &work), CALL_NS);
}

EXPORT CUresult cuGraphHostNodeSetParams(struct node *node, const struct host_work *host) {
    return change_host(node, host);
}

EXPORT CUresult cuGraphExecHostNodeSetParams(struct graph_exec *exec, struct node *node, const struct host_work *host) {
    return change_host(node_of_exec(exec, node), host);
}

/* Graphs within graphs, and nodes that do nothing */

EXPORT CUresult cuGraphAddChildGraphNode(struct node **made, struct graph *graph, struct node *const *before, size_t count,
                                         const struct graph *child) {
    CUresult status = begin(INITIALIZED);
    struct work work = {.type = CHILD_WORK, .device = current_device()};
    if (!status && !child)
        status = INVALID_VALUE;
    if (!status) {
        work.child = clone_graph(child);
        status = add_node(made, graph, before, count, &work);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphChildGraphNodeGetGraph(struct node *node, struct graph **child) {
    CUresult status = begin(INITIALIZED);
    struct work *work = work_of(node, CHILD_WORK);
    if (!status && !(work && child))
        status = INVALID_VALUE;
    if (!status)
        *child = work->child;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphExecChildGraphNodeSetParams(struct graph_exec *exec, struct node *node, const struct graph *child) {
    CUresult status = begin(INITIALIZED);
    struct node *found = status || !child ? NULL : node_of_exec(exec, node);
    struct work work = {.type = CHILD_WORK, .device = current_device()};
    if (!status && !found)
        status = INVALID_VALUE;
    if (!status) {
        work.child = clone_graph(child);
        status = change_node(found, &work);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphAddEmptyNode(struct node **made, struct graph *graph, struct node *const *before, size_t count) {
    CUresult status = begin(INITIALIZED);
    struct work work = {.type = EMPTY_WORK, .device = current_device()};
    return finish(status ? status : add_node(made, graph, before, count, &work), CALL_NS);
}

/* Events */

static CUresult add_event(struct node **made, struct graph *graph, const struct tips *before, enum work_type type,
                          CUevent event) {
    struct work work;
    CUresult status = begin(INITIALIZED);
    if (!status)
        status = work_of_event(&work, type, event);
    return finish(status ? status : add_node(made, graph, before->nodes, before->count, &work), CALL_NS);
}

static CUresult give_event(struct node *node, enum work_type type, CUevent *event) {
    CUresult status = begin(INITIALIZED);
    struct work *work = work_of(node, type);
    if (!status && !(work && event))
        status = INVALID_VALUE;
    if (!status)
        *event = work->event;
    return finish(status, CALL_NS);
}

static CUresult change_event(struct node *node, enum work_type type, CUevent event) {
    struct work work;
    CUresult status = begin(INITIALIZED);
    if (!status)
        status = work_of_event(&work, type, event);
    return finish(status ? status : change_node(node, &work), CALL_NS);
}

#define EVENT_NODE(Name, type) \
    EXPORT CUresult cuGraphAdd##Name##Node(struct node **made, struct graph *graph, struct node **before, size_t count, \
                                           CUevent event) { \
        struct tips tips = {before, count}; \
        return add_event(made, graph, &tips, type, event); \
    } \
    EXPORT CUresult cuGraph##Name##NodeGetEvent(struct node *node, CUevent *event) { \
        return give_event(node, type, event); \
    } \
    EXPORT CUresult cuGraph##Name##NodeSetEvent(struct node *node, CUevent event) { \
        return change_event(node, type, event); \
    } \
    EXPORT CUresult cuGraphExec##Name##NodeSetEvent(struct graph_exec *exec, struct node *node, CUevent event) { \
        return change_event(node_of_exec(exec, node), type, event); \
    }
EVENT_NODE(EventRecord, RECORD_WORK)
EVENT_NODE(EventWait, WAIT_WORK)
