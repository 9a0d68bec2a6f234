/* Entry points by name: cuGetProcAddress, and functions for the names that are not provided. */
#define _GNU_SOURCE
#include "device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names whose numbered variants began with these versions; any other "_v2" is as old as CUDA 3.2. */
static const struct {
    const char *name;
    int version;
} begun[] = {
    {"cuCtxCreate_v4", 12050},
    {"cuCtxCreate_v2", 3020},
    {"cuEventElapsedTime_v2", 12080},
    {"cuMemAdvise_v2", 12020},
    {"cuMemPrefetchAsync_v2", 12020},
    {"cuDeviceGetUuid_v2", 11040},
    {"cuDevicePrimaryCtxRelease_v2", 11000},
    {"cuGetProcAddress_v2", 12000},
    {"cuCtxGetDevice_v2", 13000},
    {"cuCtxSynchronize_v2", 13000},
    {"cuStreamBeginCapture_v2", 10010},
    {"cuStreamGetCaptureInfo_v2", 11030},
    {"cuStreamGetCaptureInfo_v3", 12030},
    {"cuStreamUpdateCaptureDependencies_v2", 12030},
    {"cuGraphAddDependencies_v2", 12030},
    {"cuGraphRemoveDependencies_v2", 12030},
    {"cuGraphNodeGetDependencies_v2", 12030},
    {"cuGraphNodeGetDependentNodes_v2", 12030},
    {"cuGraphGetEdges_v2", 12030},
    {"cuGraphAddNode_v2", 12030},
    {"cuGraphExecUpdate_v2", 12000},
    {"cuGraphAddKernelNode_v2", 12000},
    {"cuGraphKernelNodeGetParams_v2", 12000},
    {"cuGraphKernelNodeSetParams_v2", 12000},
    {"cuGraphExecKernelNodeSetParams_v2", 12000},
};

static int began(const char *name) {
    for (size_t n = 0; n < sizeof begun / sizeof *begun; n++)
        if (!strcmp(begun[n].name, name))
            return begun[n].version;
    return 0;
}

static void *own_handle(void) {
    static void *handle;
    Dl_info info;
    if (!handle && dladdr((void *)own_handle, &info))
        handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return handle;
}

void *known_entry(const char *name) {
    void *handle = own_handle(), *found = handle ? dlsym(handle, name) : NULL;
    Dl_info info, own;
    if (!found || !dladdr(found, &info) || !dladdr((void *)known_entry, &own))
        return NULL;
    return info.dli_fbase == own.dli_fbase ? found : NULL; /* not one of a library that this one needs */
}

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **entry, int version, uint64_t flags, int *found) {
    (void)flags;
    char name[128];
    static const char *const variants[] = {"_v4", "_v3", "_v2", ""};
    if (!symbol || !entry)
        return INVALID_VALUE;
    *entry = NULL;
    if (!strcmp(symbol, "cuGraphInstantiate")) /* as cuda.h calls it; the older one has other parameters */
        symbol = "cuGraphInstantiateWithFlags";
    for (int n = 0; n < 4 && !*entry; n++) {
        snprintf(name, sizeof name, "%s%s", symbol, variants[n]);
        if (began(name) <= version)
            *entry = known_entry(name);
    }
    if (found)
        *found = *entry ? 0 : 1; /* 1: the driver has no such symbol */
    return *entry ? SUCCESS : NOT_FOUND;
}

EXPORT CUresult cuGetProcAddress(const char *symbol, void **entry, int version, uint64_t flags) {
    return cuGetProcAddress_v2(symbol, entry, version, flags, NULL);
}

EXPORT CUresult cuGetExportTable(const void **table, const void *id) {
    (void)id; /* private tables of NVIDIA's own libraries, which is how these are known */
    cuInit(0);
    begin(NOTHING);
    report_missing("cuGetExportTable");
    finish(SUCCESS, CALL_NS);
    *table = NULL;
    return NOT_FOUND;
}

CUresult refuse(const char *what) {
    report_missing(what);
    return NOT_SUPPORTED;
}

CUresult not_provided(const char *name) {
    int is_runtime = !strncmp(name, "cuda", 4);
    if (is_runtime)
        start_runtime();
    begin(NOTHING);
    CUresult status = finish(refuse(name), CALL_NS);
    return is_runtime ? keep_error(status) : status;
}

/* What is not provided. */
#define MISSING_ENTRY(name) \
    EXPORT CUresult name(void) { \
        return not_provided(#name); \
    }
#include "missing.h"
