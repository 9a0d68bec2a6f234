/* Graphs and captures of the runtime API: mostly the driver's functions. */
#include "graph_driver.h"

#include "driver.h"
#include "runtime.h"

/* Those with the driver's parameters: name in the runtime API, in the driver API, parameters, arguments. */
#define SAME(Runtime, Driver, PARAMETERS, ARGUMENTS) \
    EXPORT CUresult cuda##Runtime PARAMETERS { \
        return RUNTIME(cu##Driver ARGUMENTS); \
    }
#define NEW struct node **made, struct graph *graph, struct node **before, size_t count
#define EXEC struct graph_exec *exec, struct node *node

SAME(StreamBeginCapture, StreamBeginCapture_v2, (CUstream stream, int mode), (stream, mode))
SAME(StreamBeginCaptureToGraph, StreamBeginCaptureToGraph,
     (CUstream stream, struct graph *graph, struct node **before, const edge_data *data, size_t count, int mode),
     (stream, graph, before, data, count, mode))
SAME(StreamEndCapture, StreamEndCapture, (CUstream stream, struct graph **graph), (stream, graph))
SAME(StreamIsCapturing, StreamIsCapturing, (CUstream stream, int *found), (stream, found))
SAME(StreamGetCaptureInfo, StreamGetCaptureInfo_v3,
     (CUstream stream, int *found, uint64_t *id, struct graph **graph, struct node *const **tips, const edge_data **data,
      size_t *count),
     (stream, found, id, graph, tips, data, count))
SAME(StreamUpdateCaptureDependencies, StreamUpdateCaptureDependencies_v2,
     (CUstream stream, struct node **nodes, const edge_data *data, size_t count, unsigned flags),
     (stream, nodes, data, count, flags))
SAME(ThreadExchangeStreamCaptureMode, ThreadExchangeStreamCaptureMode, (int *mode), (mode))

SAME(GraphCreate, GraphCreate, (struct graph **graph, unsigned flags), (graph, flags))
SAME(GraphDestroy, GraphDestroy, (struct graph *graph), (graph))
SAME(GraphClone, GraphClone, (struct graph **clone, const struct graph *graph), (clone, graph))
SAME(GraphNodeFindInClone, GraphNodeFindInClone, (struct node **found, const struct node *node, const struct graph *clone),
     (found, node, clone))
SAME(GraphNodeGetType, GraphNodeGetType, (const struct node *node, int *type), (node, type))
SAME(GraphGetNodes, GraphGetNodes, (const struct graph *graph, struct node **nodes, size_t *count), (graph, nodes, count))
SAME(GraphGetRootNodes, GraphGetRootNodes, (const struct graph *graph, struct node **nodes, size_t *count),
     (graph, nodes, count))
SAME(GraphGetEdges, GraphGetEdges_v2,
     (const struct graph *graph, struct node **from, struct node **to, edge_data *data, size_t *count),
     (graph, from, to, data, count))
SAME(GraphNodeGetDependencies, GraphNodeGetDependencies_v2,
     (const struct node *node, struct node **nodes, edge_data *data, size_t *count), (node, nodes, data, count))
SAME(GraphNodeGetDependentNodes, GraphNodeGetDependentNodes_v2,
     (const struct node *node, struct node **nodes, edge_data *data, size_t *count), (node, nodes, data, count))
SAME(GraphAddDependencies, GraphAddDependencies_v2,
     (struct graph *graph, struct node *const *from, struct node *const *to, const edge_data *data, size_t count),
     (graph, from, to, data, count))
SAME(GraphRemoveDependencies, GraphRemoveDependencies_v2,
     (struct graph *graph, struct node *const *from, struct node *const *to, const edge_data *data, size_t count),
     (graph, from, to, data, count))
SAME(GraphDestroyNode, GraphDestroyNode, (struct node *node), (node))
SAME(GraphDebugDotPrint, GraphDebugDotPrint, (const struct graph *graph, const char *path, unsigned flags),
     (graph, path, flags))

SAME(GraphInstantiate, GraphInstantiateWithFlags, (struct graph_exec **exec, struct graph *graph, unsigned long long flags),
     (exec, graph, flags))
SAME(GraphInstantiateWithFlags, GraphInstantiateWithFlags,
     (struct graph_exec **exec, struct graph *graph, unsigned long long flags), (exec, graph, flags))
SAME(GraphInstantiateWithParams, GraphInstantiateWithParams,
     (struct graph_exec **exec, struct graph *graph, instantiation *wanted), (exec, graph, wanted))
SAME(GraphExecGetFlags, GraphExecGetFlags, (const struct graph_exec *exec, uint64_t *flags), (exec, flags))
SAME(GraphExecUpdate, GraphExecUpdate_v2, (struct graph_exec *exec, struct graph *graph, update_result *result),
     (exec, graph, result))
SAME(GraphExecDestroy, GraphExecDestroy, (struct graph_exec *exec), (exec))
SAME(GraphUpload, GraphUpload, (struct graph_exec *exec, CUstream stream), (exec, stream))
SAME(GraphLaunch, GraphLaunch, (struct graph_exec *exec, CUstream stream), (exec, stream))
SAME(GraphNodeSetEnabled, GraphNodeSetEnabled, (struct graph_exec *exec, const struct node *node, unsigned enabled),
     (exec, node, enabled))
SAME(GraphNodeGetEnabled, GraphNodeGetEnabled, (struct graph_exec *exec, const struct node *node, unsigned *enabled),
     (exec, node, enabled))

SAME(GraphAddMemsetNode, GraphAddMemsetNode, (NEW, const struct fill_work *fill), (made, graph, before, count, fill, NULL))
SAME(GraphMemsetNodeGetParams, GraphMemsetNodeGetParams, (struct node *node, struct fill_work *fill), (node, fill))
SAME(GraphMemsetNodeSetParams, GraphMemsetNodeSetParams, (struct node *node, const struct fill_work *fill), (node, fill))
SAME(GraphExecMemsetNodeSetParams, GraphExecMemsetNodeSetParams, (EXEC, const struct fill_work *fill),
     (exec, node, fill, NULL))
SAME(GraphAddHostNode, GraphAddHostNode, (NEW, const struct host_work *host), (made, graph, before, count, host))
SAME(GraphHostNodeGetParams, GraphHostNodeGetParams, (struct node *node, struct host_work *host), (node, host))
SAME(GraphHostNodeSetParams, GraphHostNodeSetParams, (struct node *node, const struct host_work *host), (node, host))
SAME(GraphExecHostNodeSetParams, GraphExecHostNodeSetParams, (EXEC, const struct host_work *host), (exec, node, host))
SAME(GraphAddChildGraphNode, GraphAddChildGraphNode, (NEW, struct graph *child), (made, graph, before, count, child))
SAME(GraphChildGraphNodeGetGraph, GraphChildGraphNodeGetGraph, (struct node *node, struct graph **child), (node, child))
SAME(GraphExecChildGraphNodeSetParams, GraphExecChildGraphNodeSetParams, (EXEC, struct graph *child), (exec, node, child))
SAME(GraphAddEmptyNode, GraphAddEmptyNode, (NEW), (made, graph, before, count))
SAME(GraphAddEventRecordNode, GraphAddEventRecordNode, (NEW, CUevent event), (made, graph, before, count, event))
SAME(GraphEventRecordNodeGetEvent, GraphEventRecordNodeGetEvent, (struct node *node, CUevent *event), (node, event))
SAME(GraphEventRecordNodeSetEvent, GraphEventRecordNodeSetEvent, (struct node *node, CUevent event), (node, event))
SAME(GraphExecEventRecordNodeSetEvent, GraphExecEventRecordNodeSetEvent, (EXEC, CUevent event), (exec, node, event))
SAME(GraphAddEventWaitNode, GraphAddEventWaitNode, (NEW, CUevent event), (made, graph, before, count, event))
SAME(GraphEventWaitNodeGetEvent, GraphEventWaitNodeGetEvent, (struct node *node, CUevent *event), (node, event))
SAME(GraphEventWaitNodeSetEvent, GraphEventWaitNodeSetEvent, (struct node *node, CUevent event), (node, event))
SAME(GraphExecEventWaitNodeSetEvent, GraphExecEventWaitNodeSetEvent, (EXEC, CUevent event), (exec, node, event))
SAME(GraphAddMemAllocNode, GraphAddMemAllocNode, (NEW, allocation_parameters *p), (made, graph, before, count, p))
SAME(GraphMemAllocNodeGetParams, GraphMemAllocNodeGetParams, (const struct node *node, allocation_parameters *p), (node, p))
SAME(GraphAddMemFreeNode, GraphAddMemFreeNode, (NEW, void *pointer),
     (made, graph, before, count, (CUdeviceptr)pointer))
SAME(GraphMemFreeNodeGetParams, GraphMemFreeNodeGetParams, (const struct node *node, CUdeviceptr *address), (node, address))
SAME(GraphKernelNodeSetAttribute, GraphKernelNodeSetAttribute, (struct node *node, int attribute, const void *value),
     (node, attribute, value))
SAME(GraphKernelNodeGetAttribute, GraphKernelNodeGetAttribute, (struct node *node, int attribute, void *value),
     (node, attribute, value))
SAME(GraphKernelNodeCopyAttributes, GraphKernelNodeCopyAttributes, (struct node *to, struct node *from), (to, from))
SAME(DeviceGraphMemTrim, DeviceGraphMemTrim, (int device), (device))
SAME(DeviceGetGraphMemAttribute, DeviceGetGraphMemAttribute, (int device, int attribute, void *value),
     (device, attribute, value))
SAME(DeviceSetGraphMemAttribute, DeviceSetGraphMemAttribute, (int device, int attribute, const void *value),
     (device, attribute, value))

/* Kernels, which the runtime API names by their stubs. */

static CUresult named(kernel_parameters *p, const kernel_parameters *given) {
    struct function *function;
    if (!given)
        return INVALID_VALUE;
    CUresult status = function_of(given->function, &function);
    *p = (kernel_parameters){function, given->grid, given->block, given->shared, given->values, given->extra, NULL, NULL};
    return status;
}

EXPORT CUresult cudaGraphAddKernelNode(NEW, const kernel_parameters *given) {
    kernel_parameters p;
    CUresult status = named(&p, given);
    return RUNTIME(status ? status : cuGraphAddKernelNode_v2(made, graph, before, count, &p));
}

EXPORT CUresult cudaGraphKernelNodeGetParams(struct node *node, kernel_parameters *p) {
    start_runtime();
    CUresult status = begin(INITIALIZED);
    if (!status && !(node && p && node->work.type == KERNEL_WORK))
        status = INVALID_VALUE;
    if (!status) {
        give_kernel(&node->work, p);
        const struct function *function = p->function;
        if (function->host)
            p->function = (void *)function->host;
    }
    return keep_error(finish(status, CALL_NS));
}

EXPORT CUresult cudaGraphKernelNodeSetParams(struct node *node, const kernel_parameters *given) {
    kernel_parameters p;
    CUresult status = named(&p, given);
    return RUNTIME(status ? status : cuGraphKernelNodeSetParams_v2(node, &p));
}

EXPORT CUresult cudaGraphExecKernelNodeSetParams(EXEC, const kernel_parameters *given) {
    kernel_parameters p;
    CUresult status = named(&p, given);
    return RUNTIME(status ? status : cuGraphExecKernelNodeSetParams_v2(exec, node, &p));
}
