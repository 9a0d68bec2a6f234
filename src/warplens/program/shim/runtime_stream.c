/* Streams and events of the runtime API. */
#include "runtime.h"

EXPORT CUresult cudaStreamCreate(CUstream *stream) {
    return RUNTIME(cuStreamCreate(stream, 0));
}

EXPORT CUresult cudaStreamCreateWithFlags(CUstream *stream, unsigned flags) {
    return RUNTIME(cuStreamCreate(stream, flags));
}

EXPORT CUresult cudaStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    return RUNTIME(cuStreamCreateWithPriority(stream, flags, priority));
}

EXPORT CUresult cudaStreamDestroy(CUstream stream) {
    return RUNTIME(cuStreamDestroy_v2(stream));
}

EXPORT CUresult cudaStreamSynchronize(CUstream stream) {
    return RUNTIME(cuStreamSynchronize(stream));
}

EXPORT CUresult cudaStreamQuery(CUstream stream) {
    return RUNTIME(cuStreamQuery(stream));
}

EXPORT CUresult cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    return RUNTIME(cuStreamWaitEvent(stream, event, flags));
}

EXPORT CUresult cudaStreamGetFlags(CUstream stream, unsigned *flags) {
    return RUNTIME(cuStreamGetFlags(stream, flags));
}

EXPORT CUresult cudaStreamGetPriority(CUstream stream, int *priority) {
    return RUNTIME(cuStreamGetPriority(stream, priority));
}

EXPORT CUresult cudaStreamGetId(CUstream stream, unsigned long long *id) {
    return RUNTIME(cuStreamGetId(stream, id));
}

EXPORT CUresult cudaStreamGetDevice(CUstream stream, int *device) {
    return RUNTIME(cuStreamGetDevice(stream, device));
}

EXPORT CUresult cudaStreamSetAttribute(CUstream stream, int attribute, const void *value) {
    return RUNTIME(cuStreamSetAttribute(stream, attribute, value));
}

EXPORT CUresult cudaStreamGetAttribute(CUstream stream, int attribute, void *value) {
    return RUNTIME(cuStreamGetAttribute(stream, attribute, value));
}

EXPORT CUresult cudaStreamCopyAttributes(CUstream to, CUstream from) {
    return RUNTIME(cuStreamCopyAttributes(to, from));
}

EXPORT CUresult cudaStreamAddCallback(CUstream stream, stream_callback call, void *data, unsigned flags) {
    return RUNTIME(cuStreamAddCallback(stream, call, data, flags));
}

EXPORT CUresult cudaLaunchHostFunc(CUstream stream, host_function call, void *data) {
    return RUNTIME(cuLaunchHostFunc(stream, call, data));
}

EXPORT CUresult cudaStreamAttachMemAsync(CUstream stream, void *pointer, size_t size, unsigned flags) {
    struct block *block = block_of((uint64_t)pointer, size); /* a size of 0: all of it */
    return RUNTIME(cuStreamAttachMemAsync(stream, (CUdeviceptr)pointer, size ? size : block ? block->size : 0, flags));
}

EXPORT CUresult cudaEventCreate(CUevent *event) {
    return RUNTIME(cuEventCreate(event, 0));
}

EXPORT CUresult cudaEventCreateWithFlags(CUevent *event, unsigned flags) {
    return RUNTIME(cuEventCreate(event, flags));
}

EXPORT CUresult cudaEventDestroy(CUevent event) {
    return RUNTIME(cuEventDestroy_v2(event));
}

EXPORT CUresult cudaEventRecord(CUevent event, CUstream stream) {
    return RUNTIME(cuEventRecord(event, stream));
}

EXPORT CUresult cudaEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    return RUNTIME(cuEventRecordWithFlags(event, stream, flags));
}

EXPORT CUresult cudaEventSynchronize(CUevent event) {
    return RUNTIME(cuEventSynchronize(event));
}

EXPORT CUresult cudaEventQuery(CUevent event) {
    return RUNTIME(cuEventQuery(event));
}

EXPORT CUresult cudaEventElapsedTime(float *milliseconds, CUevent first, CUevent last) {
    return RUNTIME(cuEventElapsedTime_v2(milliseconds, first, last));
}
