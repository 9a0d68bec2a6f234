/* Driver API of CUDA 12: functions whose parameters are fewer than those of CUDA 13, under their names without a version. */
#include "graphs/graph_driver.h"

#include "driver.h"
#include "runtime.h"

EXPORT CUresult cuMemAdvise(CUdeviceptr address, size_t size, int advice, CUdevice device) {
    return cudaMemAdvise((const void *)address, size, advice, (memory_location){1, device});
}

EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUdevice device, CUstream stream) {
    return cudaMemPrefetchAsync((const void *)address, size, (memory_location){1, device}, 0, stream);
}

/* Graphs: without data of edges. */

EXPORT CUresult cuStreamGetCaptureInfo(CUstream stream, int *found, uint64_t *id) {
    return cuStreamGetCaptureInfo_v3(stream, found, id, NULL, NULL, NULL, NULL);
}

EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *found, uint64_t *id, struct graph **graph,
                                          struct node *const **tips, size_t *count) {
    return cuStreamGetCaptureInfo_v3(stream, found, id, graph, tips, NULL, count);
}

EXPORT CUresult cuStreamUpdateCaptureDependencies(CUstream stream, struct node **nodes, size_t count, unsigned flags) {
    return cuStreamUpdateCaptureDependencies_v2(stream, nodes, NULL, count, flags);
}

EXPORT CUresult cuGraphAddDependencies(struct graph *graph, struct node *const *from, struct node *const *to, size_t count) {
    return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

EXPORT CUresult cuGraphRemoveDependencies(struct graph *graph, struct node *const *from, struct node *const *to, size_t count) {
    return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

EXPORT CUresult cuGraphGetEdges(const struct graph *graph, struct node **from, struct node **to, size_t *count) {
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

EXPORT CUresult cuGraphNodeGetDependencies(const struct node *node, struct node **nodes, size_t *count) {
    return cuGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}

EXPORT CUresult cuGraphNodeGetDependentNodes(const struct node *node, struct node **nodes, size_t *count) {
    return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}
