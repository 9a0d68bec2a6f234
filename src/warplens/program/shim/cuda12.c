/* CUDA 12: functions of its runtime that have other parameters, or structures, than those of CUDA 13.

   Those with the same name are called name_12 here; where a program has the static runtime of CUDA 12 in it, they go in
   the place of its own (static_runtime.c). */
#include "driver.h"
#include "runtime.h"

#include <string.h>

struct properties_12 { /* cudaDeviceProp of CUDA 12 */
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t memory, shared_per_block;
    int registers_per_block, warp;
    size_t pitch;
    int threads_per_block, block[3], grid[3], clock;
    size_t constants;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int overlap, multiprocessors, time_limit, integrated, maps_host_memory, compute_mode;
    int textures[39]; /* sizes of textures and surfaces */
    size_t surface_alignment;
    int concurrent_kernels, ecc, bus, device, domain, tcc, engines, unified, memory_clock, bus_width, l2, persisting_l2;
    int threads_per_multiprocessor, priorities, global_l1, local_l1;
    size_t shared_per_multiprocessor;
    int registers_per_multiprocessor, managed, board, board_group, host_atomics, double_ratio, pageable, concurrent_managed;
    int preemption, registered_pointers, cooperative, cooperative_on_several;
    size_t shared_optin;
    int page_tables, direct_managed, blocks_per_multiprocessor, policy_window;
    size_t reserved_shared;
    int host_register, sparse, read_only_register, timeline, pools, rdma;
    unsigned rdma_flush;
    int rdma_order;
    unsigned pool_handles;
    int deferred, ipc_events, clusters, function_pointers, reserved[63];
};

EXPORT CUresult cudaGetDeviceProperties_v2(struct properties_12 *p, int device) {
    start_runtime();
    CUresult status = begin_on(device);
    if (!status) {
        const int32_t *a = gpu.attributes;
        *p = (struct properties_12){
            .memory = gpu.memory_bytes, .shared_per_block = a[8], .registers_per_block = a[12], .warp = a[10],
            .pitch = a[11], .threads_per_block = a[1], .block = {a[2], a[3], a[4]}, .grid = {a[5], a[6], a[7]},
            .clock = a[13], .constants = a[9], .major = a[75], .minor = a[76], .texture_alignment = a[14],
            .texture_pitch_alignment = a[51], .overlap = a[15], .multiprocessors = a[16], .maps_host_memory = a[19],
            .surface_alignment = a[14], .concurrent_kernels = a[31], .bus = device_attribute(PCI_BUS, device),
            .engines = a[40], .unified = a[41], .memory_clock = a[36], .bus_width = a[37], .l2 = a[38],
            .persisting_l2 = a[108], .threads_per_multiprocessor = a[39], .priorities = a[78], .global_l1 = a[79],
            .local_l1 = a[80], .shared_per_multiprocessor = a[81], .registers_per_multiprocessor = a[82],
            .managed = a[83], .double_ratio = a[87], .concurrent_managed = a[89], .preemption = a[90],
            .registered_pointers = a[91], .cooperative = a[95], .shared_optin = a[97],
            .blocks_per_multiprocessor = a[106], .policy_window = a[109], .reserved_shared = a[111],
            .host_register = a[99], .pools = a[115], .clusters = a[120], .function_pointers = a[129],
        };
        memcpy(p->name, gpu.name, sizeof p->name);
        give_uuid((char *)p->uuid, device);
    }
    return keep_error(finish(status, CALL_NS));
}

enum { LATEST_12 = 12090 };

EXPORT CUresult cudaRuntimeGetVersion_12(int *version) {
    if (version)
        *version = LATEST_12;
    return RUNTIME(version ? SUCCESS : INVALID_VALUE);
}

EXPORT CUresult cudaMemPrefetchAsync_12(const void *pointer, size_t size, int device, CUstream stream) {
    return cudaMemPrefetchAsync(pointer, size, (memory_location){1, device}, 0, stream);
}

EXPORT CUresult cudaMemAdvise_12(const void *pointer, size_t size, int advice, int device) {
    return cudaMemAdvise(pointer, size, advice, (memory_location){1, device});
}

/* Graphs: without data of edges. */

EXPORT CUresult cudaStreamGetCaptureInfo_12(CUstream stream, int *found, uint64_t *id) {
    return cudaStreamGetCaptureInfo(stream, found, id, NULL, NULL, NULL, NULL);
}

EXPORT CUresult cudaStreamGetCaptureInfo_v2(CUstream stream, int *found, uint64_t *id, struct graph **graph,
                                            struct node *const **tips, size_t *count) {
    return cudaStreamGetCaptureInfo(stream, found, id, graph, tips, NULL, count);
}

EXPORT CUresult cudaStreamUpdateCaptureDependencies_12(CUstream stream, struct node **nodes, size_t count, unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(stream, nodes, NULL, count, flags);
}

EXPORT CUresult cudaGraphAddDependencies_12(struct graph *graph, struct node *const *from, struct node *const *to, size_t count) {
    return cudaGraphAddDependencies(graph, from, to, NULL, count);
}

EXPORT CUresult cudaGraphRemoveDependencies_12(struct graph *graph, struct node *const *from, struct node *const *to,
                                               size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, NULL, count);
}

EXPORT CUresult cudaGraphGetEdges_12(const struct graph *graph, struct node **from, struct node **to, size_t *count) {
    return cudaGraphGetEdges(graph, from, to, NULL, count);
}

EXPORT CUresult cudaGraphNodeGetDependencies_12(const struct node *node, struct node **nodes, size_t *count) {
    return cudaGraphNodeGetDependencies(node, nodes, NULL, count);
}

EXPORT CUresult cudaGraphNodeGetDependentNodes_12(const struct node *node, struct node **nodes, size_t *count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, NULL, count);
}

EXPORT CUresult cudaGraphAddNode_12(struct node **made, struct graph *graph, struct node **before, size_t count, void *p) {
    return cudaGraphAddNode(made, graph, before, NULL, count, p);
}

/* Names of CUDA 12 for functions that CUDA 13 has under the plain name. */
#define RENAMED(name, is) \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\njmp " #is "@PLT\n.size " #name ", . - " #name "\n");
RENAMED(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync)
RENAMED(cudaMemAdvise_v2, cudaMemAdvise)
RENAMED(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo)
RENAMED(cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies)
RENAMED(cudaGraphAddDependencies_v2, cudaGraphAddDependencies)
RENAMED(cudaGraphRemoveDependencies_v2, cudaGraphRemoveDependencies)
RENAMED(cudaGraphGetEdges_v2, cudaGraphGetEdges)
RENAMED(cudaGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies)
RENAMED(cudaGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes)
RENAMED(cudaGraphAddNode_v2, cudaGraphAddNode)
