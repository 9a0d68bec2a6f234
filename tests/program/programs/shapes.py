"""A program that loads a cubin: one kernel makes an object, the next calls its virtual function."""

import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")
context, module, make, use = (ctypes.c_void_p() for _ in range(4))
shape, areas = ctypes.c_ulonglong(), ctypes.c_ulonglong()
found = (ctypes.c_int * 4)()


def checked(status: int) -> None:
    if status:
        sys.exit(f"failed {status}")


def launch(kernel: ctypes.c_void_p, threads: int, *values: ctypes.c_ulonglong) -> None:
    places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    checked(cuda.cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, None, places, None))


checked(cuda.cuInit(0))
checked(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
checked(cuda.cuCtxSetCurrent(context))
checked(cuda.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()))
checked(cuda.cuModuleGetFunction(ctypes.byref(make), module, b"make"))
checked(cuda.cuModuleGetFunction(ctypes.byref(use), module, b"use"))
checked(cuda.cuMemAlloc_v2(ctypes.byref(shape), ctypes.c_size_t(8)))
checked(cuda.cuMemAlloc_v2(ctypes.byref(areas), ctypes.c_size_t(16)))
launch(make, 1, shape)
launch(use, 4, shape, areas)
checked(cuda.cuMemcpyDtoH_v2(found, areas, ctypes.c_size_t(16)))
print("areas", list(found))
