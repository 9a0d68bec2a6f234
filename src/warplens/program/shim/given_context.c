/* Functions of a given context, as CUDA 13 has them; NULL is the current one. */
#include "device.h"

EXPORT CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
    CUresult status = context ? cuCtxPushCurrent_v2(context) : SUCCESS;
    if (!status) {
        status = cuCtxGetDevice(device);
        if (context)
            cuCtxPopCurrent_v2(&context);
    }
    return status;
}

EXPORT CUresult cuCtxSynchronize_v2(CUcontext context) {
    CUresult status = context ? cuCtxPushCurrent_v2(context) : SUCCESS;
    if (!status) {
        status = cuCtxSynchronize();
        if (context)
            cuCtxPopCurrent_v2(&context);
    }
    return status;
}
