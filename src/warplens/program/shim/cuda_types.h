/* CUDA types: the ones that the entry points of this library take and return, with the layouts of CUDA 13.

   Declared here from the documented interface; no header of NVIDIA's is used. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

typedef int CUresult; /* cudaError_t has the same numbers */
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct context *CUcontext;
typedef struct module *CUmodule; /* also CUlibrary */
typedef struct function *CUfunction; /* also CUkernel and cudaKernel_t */
typedef struct stream *CUstream;
typedef struct event *CUevent;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_CONFIGURATION = 9,
    INVALID_SYMBOL = 13,
    INVALID_MEMCPY_DIRECTION = 21,
    INVALID_DEVICE_FUNCTION = 98,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    PEER_ACCESS_UNSUPPORTED = 217,
    FILE_NOT_FOUND = 301,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    NOT_READY = 600,
    LAUNCH_OUT_OF_RESOURCES = 701,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    CONTEXT_IS_DESTROYED = 709,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_MERGE = 902,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_ISOLATION = 905,
    CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    CAPTURE_WRONG_THREAD = 908,
    GRAPH_EXEC_UPDATE_FAILURE = 910,
    UNKNOWN = 999,
};

typedef struct {
    unsigned x, y, z;
} dim3;

typedef struct {
    int id;
    int padding;
    union {
        char bytes[64];
        int number;
        dim3 cluster;
    } value;
} launch_attribute;

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

typedef struct { /* CUlaunchConfig */
    dim3 grid, block;
    unsigned shared;
    CUstream stream;
    launch_attribute *attributes;
    unsigned attribute_count;
} driver_launch;

typedef struct { /* cudaLaunchConfig_t */
    dim3 grid, block;
    size_t shared;
    CUstream stream;
    launch_attribute *attributes;
    unsigned attribute_count;
} runtime_launch;

enum memory_type { TYPE_HOST = 1, TYPE_DEVICE = 2, TYPE_ARRAY = 3, TYPE_UNIFIED = 4 }; /* CUmemorytype */

typedef struct {
    size_t x, y;
    int type;
    const void *host;
    CUdeviceptr device;
    struct array *array;
    size_t pitch;
} copy_side;

typedef struct { /* CUDA_MEMCPY2D */
    copy_side from, to;
    size_t width, height;
} copy_2d;

enum copy_kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, ANY_KIND }; /* cudaMemcpyKind */

typedef struct {
    size_t width, height, depth;
} extent;

typedef struct {
    size_t x, y, z;
} position;

typedef struct {
    void *data;
    size_t pitch, width, height;
} pitched_pointer;

typedef struct { /* cudaMemcpy3DParms */
    struct array *from_array;
    position from_position;
    pitched_pointer from;
    struct array *to_array;
    position to_position;
    pitched_pointer to;
    extent size;
    int kind;
} copy_3d;

typedef struct { /* a side of CUDA_MEMCPY3D; x in bytes */
    size_t x, y, z, level;
    int type;
    const void *host;
    CUdeviceptr device;
    struct array *array;
    void *context; /* of CUDA_MEMCPY3D_PEER; else reserved */
    size_t pitch, height;
} box_side;

typedef struct { /* CUDA_MEMCPY3D */
    box_side from, to;
    size_t width, height, depth; /* width in bytes */
} box_copy;

typedef struct { /* cudaMemLocation */
    int type, id;
} memory_location;

typedef struct { /* cudaPointerAttributes */
    int type; /* 0 unregistered, 1 host, 2 device, 3 managed */
    int device;
    void *device_pointer, *host_pointer;
    long reserved[8];
} pointer_attributes;

typedef struct { /* cudaFuncAttributes */
    size_t shared_bytes, constant_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
    int cluster_must_be_set, cluster[3], cluster_policy, non_portable_cluster;
    int reserved[16];
} function_attributes;

typedef struct { /* cudaChannelFormatDesc: bits of each channel; kind: 0 signed, 1 unsigned, 2 float */
    int bits[4];
    int kind;
} channel_format;

typedef void (*stream_callback)(CUstream, CUresult, void *);
typedef void (*host_function)(void *);

typedef struct { /* cudaGraphEdgeData */
    unsigned char from_port, to_port, type, reserved[5];
} edge_data;

typedef struct { /* CUDA_KERNEL_NODE_PARAMS; cudaKernelNodeParams is as far as `extra` */
    void *function;
    dim3 grid, block;
    unsigned shared;
    void **values, **extra;
    void *kernel, *context;
} kernel_parameters;

typedef struct { /* cudaMemPoolProps */
    int kind, handle_types;
    memory_location location;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
} pool_properties;

typedef struct { /* cudaMemAccessDesc */
    memory_location location;
    int access; /* 0 none, 1 read, 3 read and write */
} memory_access;

typedef struct { /* cudaMemAllocNodeParams */
    pool_properties pool;
    const memory_access *accesses;
    size_t access_count, size;
    void *pointer;
} allocation_parameters;

typedef struct { /* cudaGraphExecUpdateResultInfo */
    int result;
    struct node *node, *from;
} update_result;

typedef struct { /* cudaGraphInstantiateParams */
    unsigned long long flags;
    CUstream stream;
    struct node *node;
    int result;
} instantiation;
