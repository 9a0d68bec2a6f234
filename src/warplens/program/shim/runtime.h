/* Runtime API: what its files share.  Its functions are the driver's, with initialization and the last error. */
#pragma once

#include "device.h"

struct graph; /* cudaGraph_t */
struct graph_exec;
struct node;

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
#pragma GCC visibility pop
