/* Nodes of any kind by one description (CUgraphNodeParams, cudaGraphNodeParams): passed to the functions of each kind. */
#include "graph_driver.h"

#include "driver.h"
#include "runtime.h"

#include <string.h>

typedef struct any_parameters {
    int type, reserved[3];
    union {
        long long room[29];
        kernel_parameters kernel;
        struct { /* both begin with 16 bytes of flags and context */
            long long head[2];
            union {
                box_copy driver;
                copy_3d runtime;
            } box;
        } copy;
        struct fill_work fill;
        struct host_work host;
        struct {
            struct graph *graph;
            int moved;
        } child;
        CUevent event;
        allocation_parameters allocation;
        CUdeviceptr freed;
        struct condition_parameters condition;
    } of;
    long long more;
} any_parameters;

static const edge_data *only_full(const edge_data *edges, size_t count, CUresult *status) {
    for (size_t n = 0; edges && n < count; n++)
        if (edges[n].type || edges[n].from_port || edges[n].to_port) /* programmatic launches */
            *status = NOT_SUPPORTED;
    return edges;
}

EXPORT CUresult cuGraphAddNode_v2(struct node **made, struct graph *graph, struct node **before, const edge_data *edges,
                                  size_t count, any_parameters *p) {
    CUresult status = p ? SUCCESS : INVALID_VALUE;
    only_full(edges, count, &status);
    if (status)
        return status;
    switch (p->type) {
    case KERNEL_WORK:
        return cuGraphAddKernelNode_v2(made, graph, before, count, &p->of.kernel);
    case COPY_WORK:
        return cuGraphAddMemcpyNode(made, graph, before, count, &p->of.copy.box.driver, NULL);
    case FILL_WORK:
        return cuGraphAddMemsetNode(made, graph, before, count, &p->of.fill, NULL);
    case HOST_WORK:
        return cuGraphAddHostNode(made, graph, before, count, &p->of.host);
    case CHILD_WORK:
        return cuGraphAddChildGraphNode(made, graph, before, count, p->of.child.graph);
    case EMPTY_WORK:
        return cuGraphAddEmptyNode(made, graph, before, count);
    case WAIT_WORK:
        return cuGraphAddEventWaitNode(made, graph, before, count, p->of.event);
    case RECORD_WORK:
        return cuGraphAddEventRecordNode(made, graph, before, count, p->of.event);
    case ALLOCATE_WORK:
        return cuGraphAddMemAllocNode(made, graph, before, count, &p->of.allocation);
    case FREE_WORK:
        return cuGraphAddMemFreeNode(made, graph, before, count, p->of.freed);
    case CONDITION_WORK:
        return add_condition(made, graph, before, count, &p->of.condition);
    default:
        return not_provided("cuGraphAddNode of a semaphore node");
    }
}

static CUresult change(struct node *node, const any_parameters *p) {
    if (!node || !p)
        return INVALID_VALUE;
    switch (p->type) {
    case KERNEL_WORK:
        return cuGraphKernelNodeSetParams_v2(node, &p->of.kernel);
    case COPY_WORK:
        return cuGraphMemcpyNodeSetParams(node, &p->of.copy.box.driver);
    case FILL_WORK:
        return cuGraphMemsetNodeSetParams(node, &p->of.fill);
    case HOST_WORK:
        return cuGraphHostNodeSetParams(node, &p->of.host);
    case WAIT_WORK:
        return cuGraphEventWaitNodeSetEvent(node, p->of.event);
    case RECORD_WORK:
        return cuGraphEventRecordNodeSetEvent(node, p->of.event);
    default:
        return INVALID_VALUE;
    }
}

EXPORT CUresult cuGraphNodeSetParams(struct node *node, const any_parameters *p) {
    return change(node, p);
}

EXPORT CUresult cuGraphExecNodeSetParams(struct graph_exec *exec, struct node *node, const any_parameters *p) {
    if (p && p->type == CHILD_WORK)
        return cuGraphExecChildGraphNodeSetParams(exec, node, p->of.child.graph);
    return change(node_of_exec(exec, node), p);
}

/* The runtime's: kernels are named by their stubs, and boxes are its own. */

static CUresult named_by_handle(any_parameters *named, const any_parameters *p) {
    *named = *p;
    if (p->type != KERNEL_WORK)
        return SUCCESS;
    struct function *function;
    CUresult status = function_of(p->of.kernel.function, &function);
    named->of.kernel.function = function;
    return status;
}

EXPORT CUresult cudaGraphAddNode(struct node **made, struct graph *graph, struct node **before, const edge_data *edges,
                                 size_t count, any_parameters *p) {
    CUresult status = p ? SUCCESS : INVALID_VALUE;
    any_parameters named;
    only_full(edges, count, &status);
    if (!status && p->type == COPY_WORK)
        return cudaGraphAddMemcpyNode(made, graph, before, count, &p->of.copy.box.runtime);
    if (!status)
        status = named_by_handle(&named, p);
    if (!status)
        status = cuGraphAddNode_v2(made, graph, before, NULL, count, &named);
    if (!status && p->type == ALLOCATE_WORK)
        p->of.allocation.pointer = named.of.allocation.pointer;
    if (!status && p->type == CONDITION_WORK)
        p->of.condition.bodies = named.of.condition.bodies;
    return RUNTIME(status);
}

EXPORT CUresult cudaGraphNodeSetParams(struct node *node, const any_parameters *p) {
    any_parameters named;
    if (p && p->type == COPY_WORK)
        return cudaGraphMemcpyNodeSetParams(node, &p->of.copy.box.runtime);
    CUresult status = p ? named_by_handle(&named, p) : INVALID_VALUE;
    return RUNTIME(status ? status : cuGraphNodeSetParams(node, &named));
}

EXPORT CUresult cudaGraphExecNodeSetParams(struct graph_exec *exec, struct node *node, const any_parameters *p) {
    any_parameters named;
    if (p && p->type == COPY_WORK)
        return cudaGraphExecMemcpyNodeSetParams(exec, node, &p->of.copy.box.runtime);
    CUresult status = p ? named_by_handle(&named, p) : INVALID_VALUE;
    return RUNTIME(status ? status : cuGraphExecNodeSetParams(exec, node, &named));
}
