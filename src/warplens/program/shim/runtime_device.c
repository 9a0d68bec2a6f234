/* Devices of the runtime API. */
#include "runtime.h"

#include <string.h>

struct device_properties { /* cudaDeviceProp of CUDA 13 */
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t memory, shared_per_block;
    int registers_per_block, warp;
    size_t pitch;
    int threads_per_block, block[3], grid[3];
    size_t constants;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int multiprocessors, integrated, maps_host_memory;
    int textures[39]; /* sizes of textures and surfaces */
    size_t surface_alignment;
    int concurrent_kernels, ecc, bus, device, domain, tcc, engines, unified, bus_width, l2, persisting_l2;
    int threads_per_multiprocessor, priorities, global_l1, local_l1;
    size_t shared_per_multiprocessor;
    int registers_per_multiprocessor, managed, board, board_group, host_atomics, pageable, concurrent_managed;
    int preemption, registered_pointers, cooperative;
    size_t shared_optin;
    int page_tables, direct_managed, blocks_per_multiprocessor, policy_window;
    size_t reserved_shared;
    int host_register, sparse, read_only_register, timeline, pools, rdma;
    unsigned rdma_flush;
    int rdma_order;
    unsigned pool_handles;
    int deferred, ipc_events, clusters, function_pointers, numa, numa_id, mps, host_numa;
    unsigned pci_device, pci_subsystem;
    int multinode;
    int reserved[56];
};

EXPORT CUresult cudaGetDeviceProperties(struct device_properties *p, int device) {
    start_runtime();
    CUresult status = begin_on(device);
    if (!status) {
        const int32_t *a = gpu.attributes;
        *p = (struct device_properties){
            .memory = gpu.memory_bytes, .shared_per_block = a[8], .registers_per_block = a[12], .warp = a[10],
            .pitch = a[11], .threads_per_block = a[1], .block = {a[2], a[3], a[4]}, .grid = {a[5], a[6], a[7]},
            .constants = a[9], .major = a[75], .minor = a[76], .texture_alignment = a[14],
            .texture_pitch_alignment = a[51], .multiprocessors = a[16], .maps_host_memory = a[19],
            .surface_alignment = a[14], .concurrent_kernels = a[31], .bus = device_attribute(PCI_BUS, device), .engines = a[40], .unified = a[41],
            .bus_width = a[37], .l2 = a[38], .persisting_l2 = a[108], .policy_window = a[109], .host_register = a[99], .threads_per_multiprocessor = a[39], .priorities = a[78],
            .global_l1 = a[79], .local_l1 = a[80], .shared_per_multiprocessor = a[81],
            .registers_per_multiprocessor = a[82], .managed = a[83], .concurrent_managed = a[89], .preemption = a[90],
            .registered_pointers = a[91], .cooperative = a[95], .shared_optin = a[97],
            .blocks_per_multiprocessor = a[106], .reserved_shared = a[111], .pools = a[115], .clusters = a[120],
            .function_pointers = a[129], .numa_id = -1, .host_numa = -1,
        };
        memcpy(p->name, gpu.name, sizeof p->name);
        give_uuid((char *)p->uuid, device);
    }
    return keep_error(finish(status, CALL_NS));
}

EXPORT CUresult cudaGetDeviceCount(int *count) {
    return RUNTIME(cuDeviceGetCount(count));
}

EXPORT CUresult cudaGetDevice(int *device) {
    return RUNTIME(cuCtxGetDevice(device));
}

EXPORT CUresult cudaSetDevice(int device) {
    CUcontext context;
    start_runtime();
    CUresult status = cuDevicePrimaryCtxRetain(&context, device);
    return keep_error(status ? status : cuCtxSetCurrent(context));
}

EXPORT CUresult cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    CUdevice found;
    return RUNTIME(cuDeviceGet(&found, device)); /* without making it current */
}

EXPORT CUresult cudaChooseDevice(int *device, const struct device_properties *wanted) {
    (void)wanted; /* all are the same */
    return RUNTIME(cuDeviceGet(device, 0));
}

EXPORT CUresult cudaSetValidDevices(const int *devices, int count) {
    CUdevice found;
    CUresult status = SUCCESS;
    for (int n = 0; n < count && !status; n++)
        status = cuDeviceGet(&found, devices[n]);
    return RUNTIME(status);
}

EXPORT CUresult cudaSetDeviceFlags(unsigned flags) {
    (void)flags;
    return RUNTIME(SUCCESS);
}

EXPORT CUresult cudaGetDeviceFlags(unsigned *flags) {
    *flags = 8; /* mapped host memory */
    return RUNTIME(SUCCESS);
}

EXPORT CUresult cudaDeviceGetAttribute(int *value, int attribute, int device) {
    return RUNTIME(cuDeviceGetAttribute(value, attribute, device));
}

EXPORT CUresult cudaDeviceSynchronize(void) {
    return RUNTIME(cuCtxSynchronize());
}

EXPORT CUresult cudaDeviceReset(void) {
    CUdevice device;
    CUresult status = RUNTIME(cuCtxSynchronize());
    if (!status)
        status = cuCtxGetDevice(&device);
    return keep_error(status ? status : cuDevicePrimaryCtxReset_v2(device));
}

EXPORT CUresult cudaDeviceGetLimit(size_t *value, int limit) {
    return RUNTIME(cuCtxGetLimit(value, limit));
}

EXPORT CUresult cudaDeviceSetLimit(int limit, size_t value) {
    return RUNTIME(cuCtxSetLimit(limit, value));
}

EXPORT CUresult cudaDeviceSetCacheConfig(int configuration) {
    return RUNTIME(cuCtxSetCacheConfig(configuration));
}

EXPORT CUresult cudaDeviceGetCacheConfig(int *configuration) {
    return RUNTIME(cuCtxGetCacheConfig(configuration));
}

EXPORT CUresult cudaDeviceSetSharedMemConfig(int configuration) {
    (void)configuration;
    return RUNTIME(SUCCESS);
}

EXPORT CUresult cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    return RUNTIME(cuCtxGetStreamPriorityRange(least, greatest));
}

EXPORT CUresult cudaDeviceGetPCIBusId(char *text, int length, int device) {
    return RUNTIME(cuDeviceGetPCIBusId(text, length, device));
}

EXPORT CUresult cudaDeviceGetByPCIBusId(int *device, const char *text) {
    return RUNTIME(cuDeviceGetByPCIBusId(device, text));
}

EXPORT CUresult cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    return RUNTIME(cuDeviceCanAccessPeer(can, device, peer));
}

EXPORT CUresult cudaDeviceGetP2PAttribute(int *value, int attribute, int from, int to) {
    return RUNTIME(cuDeviceGetP2PAttribute(value, attribute, from, to));
}

EXPORT CUresult cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    CUcontext context;
    start_runtime();
    CUresult status = cuDevicePrimaryCtxRetain(&context, peer);
    if (!status)
        status = cuCtxEnablePeerAccess(context, flags);
    return keep_error(status == INVALID_CONTEXT ? INVALID_DEVICE : status);
}

EXPORT CUresult cudaDeviceDisablePeerAccess(int peer) {
    CUcontext context;
    start_runtime();
    CUresult status = cuDevicePrimaryCtxRetain(&context, peer);
    if (!status)
        status = cuCtxDisablePeerAccess(context);
    return keep_error(status == INVALID_CONTEXT ? PEER_ACCESS_NOT_ENABLED : status);
}

EXPORT CUresult cudaDeviceGetSharedMemConfig(int *configuration) {
    *configuration = 1; /* banks of four bytes */
    return RUNTIME(SUCCESS);
}

EXPORT CUresult cudaCtxResetPersistingL2Cache(void) {
    return RUNTIME(cuCtxResetPersistingL2Cache());
}

EXPORT CUresult cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const channel_format *format, int device) {
    unsigned channels = 0;
    while (format && channels < 4 && format->bits[channels])
        channels++;
    return RUNTIME(cuDeviceGetTexture1DLinearMaxWidth(width, 0, channels, device));
}

EXPORT CUresult cudaDeviceGetDefaultMemPool(struct pool **pool, int device) {
    return RUNTIME(cuDeviceGetDefaultMemPool(pool, device));
}

EXPORT CUresult cudaDeviceGetMemPool(struct pool **pool, int device) {
    return RUNTIME(cuDeviceGetMemPool(pool, device));
}

EXPORT CUresult cudaDeviceSetMemPool(int device, struct pool *pool) {
    return RUNTIME(cuDeviceSetMemPool(device, pool));
}

EXPORT CUresult cudaDriverGetVersion(int *version) {
    return keep_error(cuDriverGetVersion(version));
}

EXPORT CUresult cudaRuntimeGetVersion(int *version) {
    return keep_error(cuDriverGetVersion(version));
}

EXPORT CUresult cudaGetDriverEntryPointByVersion(const char *symbol, void **entry, unsigned version, unsigned long long flags,
                                                 int *found) {
    CUresult status = RUNTIME(cuGetProcAddress_v2(symbol, entry, version, flags, found));
    return status == NOT_FOUND ? SUCCESS : status; /* `found` says it */
}

EXPORT CUresult cudaGetDriverEntryPoint(const char *symbol, void **entry, unsigned long long flags, int *found) {
    return cudaGetDriverEntryPointByVersion(symbol, entry, 13000, flags, found);
}

EXPORT CUresult cudaProfilerStart(void) {
    return RUNTIME(SUCCESS);
}

EXPORT CUresult cudaProfilerStop(void) {
    return RUNTIME(SUCCESS);
}
