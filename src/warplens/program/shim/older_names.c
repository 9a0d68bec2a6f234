/* Older names: functions of the driver API under the names without a version.

   cuda.h replaces them by those with one; programs that look symbols up by hand (dlsym, ctypes) ask for these and mean
   the functions of today. */
#include "driver.h"

#define OLDER(name, is) \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\njmp " #is "@PLT\n.size " #name ", . - " #name "\n");
#define FIRST(name) OLDER(name, name##_v2)

FIRST(cuArray3DCreate) FIRST(cuArray3DGetDescriptor) FIRST(cuArrayCreate) FIRST(cuArrayGetDescriptor) FIRST(cuCtxCreate)
FIRST(cuCtxDestroy) FIRST(cuCtxPopCurrent) FIRST(cuCtxPushCurrent) FIRST(cuDevicePrimaryCtxRelease)
FIRST(cuDevicePrimaryCtxReset) FIRST(cuDevicePrimaryCtxSetFlags) FIRST(cuDeviceTotalMem) FIRST(cuEventDestroy)
FIRST(cuLinkAddData) FIRST(cuLinkAddFile) FIRST(cuLinkCreate) FIRST(cuMemAlloc) FIRST(cuMemAllocHost)
FIRST(cuMemAllocPitch) FIRST(cuMemFree) FIRST(cuMemGetAddressRange) FIRST(cuMemGetInfo) FIRST(cuMemHostGetDevicePointer)
FIRST(cuMemHostRegister) FIRST(cuMemcpy2D) FIRST(cuMemcpy2DAsync) FIRST(cuMemcpy2DUnaligned) FIRST(cuMemcpy3D)
FIRST(cuMemcpy3DAsync) FIRST(cuMemcpyAtoA) FIRST(cuMemcpyAtoD) FIRST(cuMemcpyAtoH) FIRST(cuMemcpyAtoHAsync) FIRST(cuMemcpyDtoA)
FIRST(cuMemcpyDtoD) FIRST(cuMemcpyDtoDAsync) FIRST(cuMemcpyDtoH)
FIRST(cuMemcpyDtoHAsync) FIRST(cuMemcpyHtoA) FIRST(cuMemcpyHtoAAsync) FIRST(cuMemcpyHtoD) FIRST(cuMemcpyHtoDAsync) FIRST(cuMemsetD16)
FIRST(cuMemsetD2D16) FIRST(cuMemsetD2D32) FIRST(cuMemsetD2D8) FIRST(cuMemsetD32) FIRST(cuMemsetD8)
FIRST(cuModuleGetGlobal) FIRST(cuStreamDestroy) FIRST(cuStreamBatchMemOp)
FIRST(cuStreamWaitValue32) FIRST(cuStreamWaitValue64) FIRST(cuStreamWriteValue32) FIRST(cuStreamWriteValue64)
FIRST(cuGraphAddKernelNode) FIRST(cuGraphKernelNodeSetParams) FIRST(cuGraphExecKernelNodeSetParams)
