"""A program of the driver API in Python: adds vectors, and times it with events."""

import ctypes
import sys

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = rb"""
__device__ int calls;
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    if (i == 0) atomicAdd(&calls, 1);
}
"""
N = 1 << 16


def checked(answer):
    if int(answer[0]):
        sys.exit(f"failed: {answer[0]}")
    return answer[1] if len(answer) == 2 else answer[1:]


def compiled() -> bytes:
    program = checked(nvrtc.nvrtcCreateProgram(SOURCE, b"add.cu", 0, [], []))
    checked(nvrtc.nvrtcCompileProgram(program, 2, [b"-arch=sm_90", b"-lineinfo"]))
    code = b" " * checked(nvrtc.nvrtcGetCUBINSize(program))
    checked(nvrtc.nvrtcGetCUBIN(program, code))
    return code


checked(driver.cuInit(0))
device = checked(driver.cuDeviceGet(0))
checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(device))))
module = checked(driver.cuModuleLoadData(compiled()))
add = checked(driver.cuModuleGetFunction(module, b"add"))
a, b, c = np.arange(N, dtype=np.float32), np.ones(N, np.float32), np.zeros(N, np.float32)
on_device = [checked(driver.cuMemAlloc(array.nbytes)) for array in (a, b, c)]
for place, array in zip(on_device[:2], (a, b), strict=True):
    checked(driver.cuMemcpyHtoD(place, array.ctypes.data, array.nbytes))
stream = checked(driver.cuStreamCreate(0))
begin, end = (checked(driver.cuEventCreate(0)) for _ in range(2))
values = (*map(int, on_device), N)
kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
checked(driver.cuEventRecord(begin, stream))
checked(driver.cuLaunchKernel(add, N // 256, 1, 1, 256, 1, 1, 0, stream, (values, kinds), 0))
checked(driver.cuEventRecord(end, stream))
checked(driver.cuEventSynchronize(end))
checked(driver.cuMemcpyDtoH(c.ctypes.data, on_device[2], c.nbytes))
calls = np.zeros(1, np.int32)
place, size = checked(driver.cuModuleGetGlobal(module, b"calls"))
checked(driver.cuMemcpyDtoH(calls.ctypes.data, place, size))
print("PASS" if (c == a + b).all() and calls[0] == 1 else "FAIL")
print("microseconds", 1000 * checked(driver.cuEventElapsedTime(begin, end)))
sys.exit(7)
