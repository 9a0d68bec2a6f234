/* Nodes of graphs that copy and allocate, in the spellings of both APIs.

   Memory that a graph allocates has its address from the moment the node is made, and keeps it until the program ends. */
#include "graph_driver.h"

#include "driver.h"
#include "runtime.h"

#include <string.h>

static uint64_t allocated, most_allocated;

/* Copies */

static CUresult add_copy(struct node **made, struct graph *graph, const struct tips *before, const copy_3d *copy) {
    struct work work;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = copy ? work_of_copy(&work, copy) : INVALID_VALUE;
    return finish(status ? status : add_node(made, graph, before->nodes, before->count, &work), CALL_NS);
}

static CUresult change_copy(struct node *node, const copy_3d *copy) {
    struct work work;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = copy ? work_of_copy(&work, copy) : INVALID_VALUE;
    return finish(status ? status : change_node(node, &work), CALL_NS);
}

static CUresult give_copy(const struct node *node, copy_3d *copy) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(node && copy && node->work.type == COPY_WORK))
        status = INVALID_VALUE;
    if (!status)
        *copy = node->work.copy;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphAddMemcpyNode(struct node **made, struct graph *graph, struct node **before, size_t count,
                                     const box_copy *box, CUcontext context) {
    (void)context;
    struct tips tips = {before, count};
    copy_3d copy = copy_of_box(box);
    return add_copy(made, graph, &tips, &copy);
}

EXPORT CUresult cuGraphMemcpyNodeGetParams(struct node *node, box_copy *box) {
    copy_3d copy;
    CUresult status = give_copy(node, &copy);
    if (!status)
        *box = box_of_copy(&copy);
    return status;
}

EXPORT CUresult cuGraphMemcpyNodeSetParams(struct node *node, const box_copy *box) {
    copy_3d copy = copy_of_box(box);
    return change_copy(node, &copy);
}

EXPORT CUresult cuGraphExecMemcpyNodeSetParams(struct graph_exec *exec, struct node *node, const box_copy *box,
                                               CUcontext context) {
    (void)context;
    copy_3d copy = copy_of_box(box);
    return change_copy(node_of_exec(exec, node), &copy);
}

EXPORT CUresult cudaGraphAddMemcpyNode(struct node **made, struct graph *graph, struct node **before, size_t count,
                                       const copy_3d *copy) {
    struct tips tips = {before, count};
    return RUNTIME(add_copy(made, graph, &tips, copy));
}

EXPORT CUresult cudaGraphAddMemcpyNode1D(struct node **made, struct graph *graph, struct node **before, size_t count,
                                         void *to, const void *from, size_t size, int kind) {
    copy_3d copy = copy_of_bytes(to, from, size, kind);
    return cudaGraphAddMemcpyNode(made, graph, before, count, &copy);
}

EXPORT CUresult cudaGraphMemcpyNodeGetParams(struct node *node, copy_3d *copy) {
    return RUNTIME(give_copy(node, copy));
}

EXPORT CUresult cudaGraphMemcpyNodeSetParams(struct node *node, const copy_3d *copy) {
    return RUNTIME(change_copy(node, copy));
}

EXPORT CUresult cudaGraphMemcpyNodeSetParams1D(struct node *node, void *to, const void *from, size_t size, int kind) {
    copy_3d copy = copy_of_bytes(to, from, size, kind);
    return cudaGraphMemcpyNodeSetParams(node, &copy);
}

EXPORT CUresult cudaGraphExecMemcpyNodeSetParams(struct graph_exec *exec, struct node *node, const copy_3d *copy) {
    return RUNTIME(change_copy(node_of_exec(exec, node), copy));
}

EXPORT CUresult cudaGraphExecMemcpyNodeSetParams1D(struct graph_exec *exec, struct node *node, void *to, const void *from,
                                                   size_t size, int kind) {
    copy_3d copy = copy_of_bytes(to, from, size, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
}

/* Copies to and from a variable */

static CUresult copy_of_symbol(copy_3d *copy, const void *symbol, void *other, const size_t range[2], int kind, int to_symbol) {
    void *place;
    size_t size;
    CUresult status = cudaGetSymbolAddress(&place, symbol);
    if (!status)
        status = cudaGetSymbolSize(&size, symbol);
    if (!status && (range[1] > size || range[0] > size - range[1]))
        status = keep_error(INVALID_VALUE);
    if (status)
        return status;
    char *at = (char *)place + range[1];
    *copy = to_symbol ? copy_of_bytes(at, other, range[0], kind) : copy_of_bytes(other, at, range[0], kind);
    return SUCCESS;
}

#define SYMBOL_NODE(Name, to_symbol, FIRST, SECOND, other) \
    EXPORT CUresult cudaGraphAddMemcpyNode##Name(struct node **made, struct graph *graph, struct node **before, \
                                                 size_t before_count, FIRST, SECOND, size_t count, size_t offset, int kind) { \
        copy_3d copy; \
        const size_t range[] = {count, offset}; \
        CUresult status = copy_of_symbol(&copy, symbol, (void *)other, range, kind, to_symbol); \
        return status ? status : cudaGraphAddMemcpyNode(made, graph, before, before_count, &copy); \
    } \
    EXPORT CUresult cudaGraphMemcpyNodeSetParams##Name(struct node *node, FIRST, SECOND, size_t count, size_t offset, \
                                                       int kind) { \
        copy_3d copy; \
        const size_t range[] = {count, offset}; \
        CUresult status = copy_of_symbol(&copy, symbol, (void *)other, range, kind, to_symbol); \
        return status ? status : cudaGraphMemcpyNodeSetParams(node, &copy); \
    } \
    EXPORT CUresult cudaGraphExecMemcpyNodeSetParams##Name(struct graph_exec *exec, struct node *node, FIRST, SECOND, \
                                                           size_t count, size_t offset, int kind) { \
        copy_3d copy; \
        const size_t range[] = {count, offset}; \
        CUresult status = copy_of_symbol(&copy, symbol, (void *)other, range, kind, to_symbol); \
        return status ? status : cudaGraphExecMemcpyNodeSetParams(exec, node, &copy); \
    }
SYMBOL_NODE(ToSymbol, 1, const void *symbol, const void *from, from)
SYMBOL_NODE(FromSymbol, 0, void *to, const void *symbol, to)

/* Memory of a graph */

EXPORT CUresult cuGraphAddMemAllocNode(struct node **made, struct graph *graph, struct node **before, size_t count,
                                       allocation_parameters *p) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct work work = {.type = ALLOCATE_WORK, .device = current_device()};
    if (!status)
        status = p && p->size ? allocate(p->size, GRAPH_MEMORY, &work.memory.address) : INVALID_VALUE;
    if (!status) {
        work.memory.size = p->size;
        p->pointer = (void *)work.memory.address;
        allocated += p->size;
        if (allocated > most_allocated)
            most_allocated = allocated;
        status = add_node(made, graph, before, count, &work);
    }
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuGraphMemAllocNodeGetParams(const struct node *node, allocation_parameters *p) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(node && p && node->work.type == ALLOCATE_WORK))
        status = INVALID_VALUE;
    if (!status)
        *p = (allocation_parameters){.pool = {.kind = 1, .location = {1, node->work.device}},
                                     .size = node->work.memory.size,
                                     .pointer = (void *)node->work.memory.address};
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphAddMemFreeNode(struct node **made, struct graph *graph, struct node **before, size_t count,
                                      CUdeviceptr address) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    struct block *block = status ? NULL : block_of(address, 0);
    struct work work = {.type = FREE_WORK, .device = current_device(), .memory = {address, block ? block->size : 0}};
    if (!status && !(block && block->kind == GRAPH_MEMORY && block->address == address))
        status = INVALID_VALUE;
    return finish(status ? status : add_node(made, graph, before, count, &work), CALL_NS);
}

EXPORT CUresult cuGraphMemFreeNodeGetParams(const struct node *node, CUdeviceptr *address) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(node && address && node->work.type == FREE_WORK))
        status = INVALID_VALUE;
    if (!status)
        *address = node->work.memory.address;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceGraphMemTrim(CUdevice device) {
    (void)device;
    return finish(begin(INITIALIZED), CALL_NS);
}

EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, uint64_t *value) {
    (void)device;
    CUresult status = begin(INITIALIZED);
    if (!status && !(value && attribute >= 0 && attribute < 4))
        status = INVALID_VALUE;
    if (!status)
        *value = attribute % 2 ? most_allocated : allocated; /* used and reserved: now, at most */
    return finish(status, CALL_NS);
}

EXPORT CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int attribute, const uint64_t *value) {
    (void)device;
    CUresult status = begin(INITIALIZED);
    if (!status && !(value && !*value && attribute % 2))
        status = INVALID_VALUE;
    if (!status)
        most_allocated = allocated;
    return finish(status, CALL_NS);
}
