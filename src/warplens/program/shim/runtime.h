/* Runtime API: what its files share.  Its functions are the driver's, with initialization and the last error. */
#pragma once

#include "device.h"

struct graph; /* cudaGraph_t */
struct graph_exec;
struct node;
struct any_parameters; /* cudaGraphNodeParams */

/* A function of the runtime API that is one of the driver API. */
#define RUNTIME(call) (start_runtime(), keep_error(call))

CUresult function_of(const void *host, struct function **function);
CUresult symbol_of(const void *host, uint64_t *address, uint64_t *size);
void place_managed_variables(void);

/* Entry points of this API that other files of it call too. */
#pragma GCC visibility push(default)
CUresult cudaGetSymbolAddress(void **pointer, const void *symbol);
CUresult cudaGetSymbolSize(size_t *bytes, const void *symbol);
CUresult cudaGraphAddMemcpyNode(struct node **made, struct graph *graph, struct node **before, size_t count,
                                const copy_3d *copy);
CUresult cudaGraphMemcpyNodeSetParams(struct node *node, const copy_3d *copy);
CUresult cudaGraphExecMemcpyNodeSetParams(struct graph_exec *exec, struct node *node, const copy_3d *copy);
CUresult cudaMemPrefetchAsync(const void *pointer, size_t size, memory_location location, unsigned flags, CUstream stream);
CUresult cudaMemAdvise(const void *pointer, size_t size, int advice, memory_location location);
CUresult cudaStreamGetCaptureInfo(CUstream stream, int *found, uint64_t *id, struct graph **graph,
                                  struct node *const **tips, const edge_data **data, size_t *count);
CUresult cudaStreamUpdateCaptureDependencies(CUstream stream, struct node **nodes, const edge_data *data, size_t count,
                                             unsigned flags);
CUresult cudaGraphAddDependencies(struct graph *graph, struct node *const *from, struct node *const *to,
                                  const edge_data *data, size_t count);
CUresult cudaGraphRemoveDependencies(struct graph *graph, struct node *const *from, struct node *const *to,
                                     const edge_data *data, size_t count);
CUresult cudaGraphGetEdges(const struct graph *graph, struct node **from, struct node **to, edge_data *data, size_t *count);
CUresult cudaGraphNodeGetDependencies(const struct node *node, struct node **nodes, edge_data *data, size_t *count);
CUresult cudaGraphNodeGetDependentNodes(const struct node *node, struct node **nodes, edge_data *data, size_t *count);
CUresult cudaGraphAddNode(struct node **made, struct graph *graph, struct node **before, const edge_data *edges,
                          size_t count, struct any_parameters *p);
#pragma GCC visibility pop
