/* Graphs of the driver API: the entry points, which those of the runtime API call. */
#pragma once

#include "graph.h"

/* Work from parameters; these take no lock (graph_node.c). */
CUresult work_of_kernel(struct work *work, const kernel_parameters *p, struct function *function);
CUresult work_of_copy(struct work *work, const copy_3d *copy);
CUresult work_of_fill(struct work *work, const struct fill_work *fill);
CUresult add_node(struct node **made, struct graph *graph, struct node *const *before, size_t count, struct work *work);
CUresult change_node(struct node *node, struct work *work);
struct node *node_of_exec(const struct graph_exec *exec, const struct node *node);
struct condition_parameters { /* cudaConditionalNodeParams; `bodies` is given back */
    uint64_t handle;
    int type;
    unsigned count;
    struct graph **bodies;
    void *context;
};
CUresult add_condition(struct node **made, struct graph *graph, struct node *const *before, size_t count,
                       struct condition_parameters *p); /* condition.c; this one takes the lock */
void give_kernel(const struct work *work, kernel_parameters *p);

#pragma GCC visibility push(default)
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
CUresult cuStreamBeginCaptureToGraph(CUstream stream, struct graph *graph, struct node **before, const edge_data
    *data, size_t count, int mode);
CUresult cuStreamEndCapture(CUstream handle, struct graph **graph);
CUresult cuStreamIsCapturing(CUstream handle, int *status_found);
CUresult cuStreamGetCaptureInfo_v3(CUstream handle, int *found, uint64_t *id, struct graph **graph, struct node *const
    **tips, const edge_data **data, size_t *count);
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, struct node **nodes, const edge_data *data, size_t
    count, unsigned flags);
CUresult cuThreadExchangeStreamCaptureMode(int *mode);
CUresult cuGraphCreate(struct graph **graph, unsigned flags);
CUresult cuGraphDestroy(struct graph *graph);
CUresult cuGraphClone(struct graph **clone, const struct graph *graph);
CUresult cuGraphNodeFindInClone(struct node **found, const struct node *node, const struct graph *clone);
CUresult cuGraphNodeGetType(const struct node *node, int *type);
CUresult cuGraphGetNodes(const struct graph *graph, struct node **nodes, size_t *room);
CUresult cuGraphGetRootNodes(const struct graph *graph, struct node **nodes, size_t *room);
CUresult cuGraphNodeGetDependentNodes_v2(const struct node *node, struct node **nodes, edge_data *data, size_t *room);
CUresult cuGraphNodeGetDependencies_v2(const struct node *node, struct node **nodes, edge_data *data, size_t *room);
CUresult cuGraphGetEdges_v2(const struct graph *graph, struct node **from, struct node **to, edge_data *data, size_t
    *room);
CUresult cuGraphAddDependencies_v2(struct graph *graph, struct node *const *from, struct node *const *to, const
    edge_data *data, size_t count);
CUresult cuGraphRemoveDependencies_v2(struct graph *graph, struct node *const *from, struct node *const *to, const
    edge_data *data, size_t count);
CUresult cuGraphDestroyNode(struct node *node);
CUresult cuGraphDebugDotPrint(const struct graph *graph, const char *path, unsigned flags);
CUresult cuGraphInstantiateWithFlags(struct graph_exec **exec, struct graph *graph, unsigned long long flags);
CUresult cuGraphInstantiateWithParams(struct graph_exec **exec, struct graph *graph, instantiation *wanted);
CUresult cuGraphExecDestroy(struct graph_exec *exec);
CUresult cuGraphExecGetFlags(const struct graph_exec *exec, uint64_t *flags);
CUresult cuGraphUpload(struct graph_exec *exec, CUstream stream);
CUresult cuGraphLaunch(struct graph_exec *exec, CUstream handle);
CUresult cuGraphExecUpdate_v2(struct graph_exec *exec, struct graph *graph, update_result *result);
CUresult cuGraphNodeSetEnabled(struct graph_exec *exec, const struct node *node, unsigned enabled);
CUresult cuGraphNodeGetEnabled(struct graph_exec *exec, const struct node *node, unsigned *enabled);
CUresult cuGraphAddKernelNode_v2(struct node **made, struct graph *graph, struct node *const *before, size_t count,
    const kernel_parameters *p);
CUresult cuGraphKernelNodeGetParams_v2(struct node *node, kernel_parameters *p);
CUresult cuGraphKernelNodeSetParams_v2(struct node *node, const kernel_parameters *p);
CUresult cuGraphExecKernelNodeSetParams_v2(struct graph_exec *exec, struct node *node, const kernel_parameters *p);
CUresult cuGraphKernelNodeSetAttribute(struct node *node, int attribute, const void *value);
CUresult cuGraphKernelNodeGetAttribute(struct node *node, int attribute, void *value);
CUresult cuGraphKernelNodeCopyAttributes(struct node *to, struct node *from);
CUresult cuGraphAddMemsetNode(struct node **made, struct graph *graph, struct node *const *before, size_t count, const
    struct fill_work *fill, CUcontext context);
CUresult cuGraphMemsetNodeGetParams(struct node *node, struct fill_work *fill);
CUresult cuGraphMemsetNodeSetParams(struct node *node, const struct fill_work *fill);
CUresult cuGraphExecMemsetNodeSetParams(struct graph_exec *exec, struct node *node, const struct fill_work *fill,
    CUcontext context);
CUresult cuGraphAddHostNode(struct node **made, struct graph *graph, struct node *const *before, size_t count, const
    struct host_work *host);
CUresult cuGraphHostNodeGetParams(struct node *node, struct host_work *host);
CUresult cuGraphHostNodeSetParams(struct node *node, const struct host_work *host);
CUresult cuGraphExecHostNodeSetParams(struct graph_exec *exec, struct node *node, const struct host_work *host);
CUresult cuGraphAddChildGraphNode(struct node **made, struct graph *graph, struct node *const *before, size_t count,
    const struct graph *child);
CUresult cuGraphChildGraphNodeGetGraph(struct node *node, struct graph **child);
CUresult cuGraphExecChildGraphNodeSetParams(struct graph_exec *exec, struct node *node, const struct graph *child);
CUresult cuGraphAddEmptyNode(struct node **made, struct graph *graph, struct node *const *before, size_t count);
CUresult cuGraphAddMemcpyNode(struct node **made, struct graph *graph, struct node **before, size_t count, const
    box_copy *box, CUcontext context);
CUresult cuGraphMemcpyNodeGetParams(struct node *node, box_copy *box);
CUresult cuGraphMemcpyNodeSetParams(struct node *node, const box_copy *box);
CUresult cuGraphExecMemcpyNodeSetParams(struct graph_exec *exec, struct node *node, const box_copy *box, CUcontext
    context);
CUresult cuGraphAddMemAllocNode(struct node **made, struct graph *graph, struct node **before, size_t count,
    allocation_parameters *p);
CUresult cuGraphMemAllocNodeGetParams(const struct node *node, allocation_parameters *p);
CUresult cuGraphAddMemFreeNode(struct node **made, struct graph *graph, struct node **before, size_t count,
    CUdeviceptr address);
CUresult cuGraphMemFreeNodeGetParams(const struct node *node, CUdeviceptr *address);
CUresult cuDeviceGraphMemTrim(CUdevice device);
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, uint64_t *value);
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int attribute, const uint64_t *value);
CUresult cuGraphAddEventRecordNode(struct node **made, struct graph *graph, struct node **before, size_t count,
    CUevent event);
CUresult cuGraphEventRecordNodeGetEvent(struct node *node, CUevent *event);
CUresult cuGraphEventRecordNodeSetEvent(struct node *node, CUevent event);
CUresult cuGraphExecEventRecordNodeSetEvent(struct graph_exec *exec, struct node *node, CUevent event);
CUresult cuGraphAddEventWaitNode(struct node **made, struct graph *graph, struct node **before, size_t count, CUevent
    event);
CUresult cuGraphEventWaitNodeGetEvent(struct node *node, CUevent *event);
CUresult cuGraphEventWaitNodeSetEvent(struct node *node, CUevent event);
CUresult cuGraphExecEventWaitNodeSetEvent(struct graph_exec *exec, struct node *node, CUevent event);
#pragma GCC visibility pop
