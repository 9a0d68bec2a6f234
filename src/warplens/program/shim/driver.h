/* Driver API: the entry points that other files of this library call too. */
#pragma once

#include "cuda_types.h"

struct pool; /* CUmemoryPool */

#pragma GCC visibility push(default)
CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
CUresult cuDeviceGetName(char *name, int length, CUdevice device);
CUresult cuDeviceGetUuid_v2(char *uuid, CUdevice device);
CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *context);
CUresult cuCtxSynchronize(void);
CUresult cuCtxGetCacheConfig(int *configuration);
CUresult cuCtxSetCacheConfig(int configuration);
CUresult cuCtxGetLimit(size_t *value, int limit);
CUresult cuCtxSetLimit(int limit, size_t value);
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size);
CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element);
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags);
CUresult cuMemHostAlloc(void **address, size_t size, unsigned flags);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text);
CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from, CUdevice to);
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned channels, CUdevice device);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);
CUresult cuCtxResetPersistingL2Cache(void);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, struct pool *pool, CUstream stream);
CUresult cuMemPoolCreate(struct pool **pool, const pool_properties *properties);
CUresult cuMemPoolDestroy(struct pool *pool);
CUresult cuMemPoolTrimTo(struct pool *pool, size_t keep);
CUresult cuMemPoolSetAttribute(struct pool *pool, int attribute, const void *value);
CUresult cuMemPoolGetAttribute(struct pool *pool, int attribute, void *value);
CUresult cuMemPoolSetAccess(struct pool *pool, const memory_access *accesses, size_t count);
CUresult cuMemPoolGetAccess(int *access, struct pool *pool, const memory_location *location);
CUresult cuDeviceSetMemPool(CUdevice device, struct pool *pool);
CUresult cuDeviceGetMemPool(struct pool **pool, CUdevice device);
CUresult cuDeviceGetDefaultMemPool(struct pool **pool, CUdevice device);
CUresult cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags);
CUresult cuMemHostUnregister(void *pointer);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer, unsigned flags);
CUresult cuMemHostGetFlags(unsigned *flags, void *pointer);
CUresult cuMemRangeGetAttribute(void *data, size_t bytes, int attribute, CUdeviceptr address, size_t size);
CUresult cuMemRangeGetAttributes(void **data, size_t *bytes, int *attributes, size_t count, CUdeviceptr address,
                                 size_t size);
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemFreeHost(void *address);
CUresult cuMemGetInfo_v2(size_t *available, size_t *total);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpy2D_v2(const copy_2d *copy);
CUresult cuMemcpy2DAsync_v2(const copy_2d *copy, CUstream stream);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream);
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height);
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream);
CUresult cuStreamCreate(CUstream *stream, unsigned flags);
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuStreamGetFlags(CUstream stream, unsigned *flags);
CUresult cuStreamGetPriority(CUstream stream, int *priority);
CUresult cuStreamGetId(CUstream stream, unsigned long long *id);
CUresult cuStreamGetDevice(CUstream stream, CUdevice *device);
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t size, unsigned flags);
CUresult cuStreamSetAttribute(CUstream stream, int attribute, const void *value);
CUresult cuStreamGetAttribute(CUstream stream, int attribute, void *value);
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const driver_launch *launch);
CUresult cuOccupancyMaxPotentialClusterSize(int *blocks, CUfunction function, const driver_launch *launch);
CUresult cuStreamCopyAttributes(CUstream to, CUstream from);
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);
CUresult cuFuncGetParamInfo(CUfunction function, size_t number, size_t *offset, size_t *size);
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream);
CUresult cuStreamAddCallback(CUstream stream, stream_callback call, void *data, unsigned flags);
CUresult cuLaunchHostFunc(CUstream stream, host_function call, void *data);
CUresult cuEventCreate(CUevent *event, unsigned flags);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventQuery(CUevent event);
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent begin, CUevent end);
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function);
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value);
CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuGetErrorString(CUresult error, const char **text);
CUresult cuGetProcAddress_v2(const char *symbol, void **entry, int version, uint64_t flags, int *found);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int block);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block, size_t shared);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module, const char *name);
CUresult cuLibraryLoadData(CUmodule *library, const void *image, int *compiler_options, void **compiler_values,
                           unsigned compiler_count, int *options, void **values, unsigned count);
CUresult cuLibraryLoadFromFile(CUmodule *library, const char *path, int *compiler_options, void **compiler_values,
                               unsigned compiler_count, int *options, void **values, unsigned count);
CUresult cuLibraryUnload(CUmodule library);
CUresult cuLibraryGetKernel(CUfunction *kernel, CUmodule library, const char *name);
CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *size, CUmodule library, const char *name);
CUresult cuLibraryGetKernelCount(unsigned *count, CUmodule library);
CUresult cuLibraryEnumerateKernels(CUfunction *kernels, unsigned most, CUmodule library);
CUresult cuKernelSetAttribute(int attribute, int value, CUfunction kernel, CUdevice device);
CUresult cuMemcpy3D_v2(const box_copy *box);
CUresult cuMemcpy3DAsync_v2(const box_copy *box, CUstream stream);
CUresult cuFuncSetCacheConfig(CUfunction function, int configuration);
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **values, void **extra);
#pragma GCC visibility pop
